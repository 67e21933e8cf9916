// ByteStreams
