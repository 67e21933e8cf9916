/// Its name.
public let name = "Cryptography"
