// AgeEncryption
