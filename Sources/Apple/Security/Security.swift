// Apple's name for the module, so that code written for Apple's systems compiles unchanged. The implementation is in
// `KeychainSecurity`, for clients with other packages that would mistake a module of this name for Apple's.
@_exported public import KeychainSecurity
