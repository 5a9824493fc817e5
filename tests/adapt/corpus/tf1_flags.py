import tensorflow as tf
import numpy as np

flags = tf.app.flags
flags.DEFINE_string("data_dir", "data", "")
flags.DEFINE_string("log_dir", "logs", "")
flags.DEFINE_integer("max_steps", 100, "")
FLAGS = flags.FLAGS

def main(_):
    x = np.load(FLAGS.data_dir + "/x.npy")
    w = tf.Variable(tf.zeros([x.shape[1], 1]))
    loss = tf.reduce_mean(tf.matmul(tf.constant(x), w) ** 2)
    step_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(FLAGS.max_steps):
            _, value = sess.run([step_op, loss])
            print("step", step, value)
            saver.save(sess, FLAGS.log_dir + "/model.ckpt", global_step=step)

if __name__ == "__main__":
    tf.app.run()
