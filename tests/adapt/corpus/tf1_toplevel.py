import tensorflow.compat.v1 as tf
import pandas as pd
tf.disable_v2_behavior()
data = pd.read_csv("housing.csv").values
x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.zeros([3, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.AdamOptimizer().minimize(loss)
saver = tf.train.Saver()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for epoch in range(50):
    _, l = sess.run([train, loss], feed_dict={x: data})
    print("epoch", epoch, "loss", l)
saver.save(sess, "./model/linear.ckpt")
