# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/guides/FromTFLite.md: a Keras model, TensorFlow's converter, and the converter to TOSA. The reference kernels run it."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from mp.frontends import tflite as route
from tensorflow import keras

layers = keras.layers


def sequence(shape, *parts):
    return keras.Sequential([keras.Input(shape, batch_size=1), *parts])


def attention():
    x = keras.Input((10, 32), batch_size=1)
    y = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 8)(x, x))
    z = layers.Dense(32)(layers.Dense(64, activation="swish")(y))
    return keras.Model(x, layers.LayerNormalization()(y + z))


def separable():
    return sequence((16, 16, 3), layers.Conv2D(8, 3, 2, "same", use_bias=False), layers.BatchNormalization(), layers.ReLU(6.0),
                    layers.DepthwiseConv2D(3, padding="same"), layers.BatchNormalization(), layers.ReLU(6.0), layers.Conv2D(16, 1),
                    layers.GlobalAveragePooling2D(), layers.Dense(10, activation="softmax"))


def upsampling():
    return sequence((8, 8, 4), layers.Conv2DTranspose(8, 3, 2, "same"), layers.LeakyReLU(), layers.UpSampling2D(2), layers.MaxPooling2D(2),
                    layers.AveragePooling2D(2), layers.Conv2D(3, 3, padding="same", dilation_rate=2, activation="tanh"))


def lstm():
    return sequence((6, 8), layers.LSTM(16, return_sequences=True, unroll=True), layers.Dense(4))


def perceptron():
    return sequence((16,), layers.Dense(32, activation="relu"), layers.Dense(32, activation="swish"), layers.Dense(8, activation="softplus"))


def bidirectional():
    return sequence((6, 8), layers.Bidirectional(layers.LSTM(8, return_sequences=True, unroll=True)), layers.GlobalMaxPooling1D(),
                    layers.Dense(3, activation="log_softmax"))


def signal():
    return sequence((64, 4), layers.Conv1D(8, 5, 2, "same", activation="relu"), layers.MaxPooling1D(2),
                    layers.Conv1D(16, 3, dilation_rate=2, padding="causal", activation="tanh"), layers.AveragePooling1D(2),
                    layers.SeparableConv1D(16, 3), layers.GlobalAveragePooling1D(), layers.Dense(5))


def dense():
    x = y = keras.Input((16, 16, 3), batch_size=1)
    for _ in range(3):
        z = layers.Conv2D(4, 3, padding="same")(layers.ReLU()(layers.BatchNormalization()(y)))
        y = layers.Concatenate()([y, z])
    return keras.Model(x, layers.Dense(4, activation="softmax")(layers.GlobalAveragePooling2D()(y)))


MODELS = {(model.__name__ + suffix): (model, kind) for model in (attention, separable, upsampling, lstm, perceptron)
          for suffix, kind in (("", "float"), ("-f16-weights", "f16"))}
MODELS |= {model.__name__: (model, "float") for model in (bidirectional, signal, dense)}
MODELS |= {"signal-int8": (signal, "int8"), "dense-int8": (dense, "int8")}
MODELS |= {"separable-int8": (separable, "int8"), "perceptron-int8": (perceptron, "int8")}


def export(name, folder):
    """Texts by kind, inputs and outputs."""
    make, kind = MODELS[name]
    keras.utils.set_random_seed(1)
    model, random = make(), np.random.default_rng(2)
    x = random.normal(size=model.inputs[0].shape).astype(np.float32)
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if kind != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "f16":
        converter.target_spec.supported_types = [tf.float16]
    if kind == "int8":
        converter.representative_dataset = lambda: ([random.normal(size=x.shape).astype(np.float32)] for _ in range(8))
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    source, text = os.path.join(folder, "model.tflite"), os.path.join(folder, "tosa.mlir")
    with open(source, "wb") as file:
        file.write(converter.convert())
    interpreter = tf.lite.Interpreter(source, experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    outputs = [interpreter.get_tensor(y["index"]) for y in interpreter.get_output_details()]
    route.convert_file(source, text)
    return {"tosa": text}, [x], outputs
