// GzipStreams
