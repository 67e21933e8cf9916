/// Its name.
public let name = "TestSupport"
