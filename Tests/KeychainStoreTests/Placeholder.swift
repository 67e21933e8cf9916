// KeychainStore
