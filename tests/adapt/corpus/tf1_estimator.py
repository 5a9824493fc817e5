import os
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("data_dir", None, "records")
flags.DEFINE_string("output_dir", None, "checkpoints")


def records():
    return tf.data.TFRecordDataset(os.path.join(FLAGS.data_dir, "train.tfrecord")).batch(32)


def main(_):
    config = tf.estimator.RunConfig(model_dir=FLAGS.output_dir, save_checkpoints_steps=100)
    estimator = tf.estimator.Estimator(model_fn=model, config=config)
    estimator.train(input_fn=records, max_steps=1000)


if __name__ == "__main__":
    flags.mark_flag_as_required("data_dir")
    flags.mark_flag_as_required("output_dir")
    tf.app.run()
