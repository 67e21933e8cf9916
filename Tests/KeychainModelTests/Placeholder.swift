// KeychainModel
