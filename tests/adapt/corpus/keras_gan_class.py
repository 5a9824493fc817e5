import numpy as np
from keras.layers import Dense, Input
from keras.models import Model, Sequential
from keras.optimizers import Adam


class GAN():
    def __init__(self):
        optimizer = Adam(0.0002, 0.5)
        self.discriminator = self.build_discriminator()
        self.discriminator.compile(loss="binary_crossentropy", optimizer=optimizer)
        self.generator = self.build_generator()
        z = Input(shape=(100,))
        self.discriminator.trainable = False
        self.combined = Model(z, self.discriminator(self.generator(z)))
        self.combined.compile(loss="binary_crossentropy", optimizer=Adam(0.0002, 0.5))

    def build_generator(self):
        model = Sequential()
        model.add(Dense(784, input_dim=100, activation="tanh"))
        return model

    def build_discriminator(self):
        model = Sequential()
        model.add(Dense(1, input_dim=784, activation="sigmoid"))
        return model

    def train(self, epochs, batch_size=128, sample_interval=50):
        X_train = np.load("data/images.npy")
        valid = np.ones((batch_size, 1))
        fake = np.zeros((batch_size, 1))
        for epoch in range(epochs):
            idx = np.random.randint(0, X_train.shape[0], batch_size)
            noise = np.random.normal(0, 1, (batch_size, 100))
            d_loss_real = self.discriminator.train_on_batch(X_train[idx], valid)
            d_loss_fake = self.discriminator.train_on_batch(self.generator.predict(noise), fake)
            g_loss = self.combined.train_on_batch(noise, valid)
            print("%d [D loss: %f] [G loss: %f]" % (epoch, 0.5 * np.add(d_loss_real, d_loss_fake), g_loss))


if __name__ == "__main__":
    gan = GAN()
    gan.train(epochs=30000, batch_size=32, sample_interval=200)
