/// Its name.
public let name = "Console"
