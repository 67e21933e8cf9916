// Apple's name of the module, so that code written for Apple's systems compiles as it is. Everything is in
// `KeychainSecurity`, for clients whose other packages would take a module of this name for Apple's.
@_exported public import KeychainSecurity
