internal import CKCZxcvbn
internal import KCCryptography

/// The functions of zxcvbn, loaded when they are first needed.
enum Zxcvbn {
    /// The name of the library for the dynamic linker.
    private static let name = "libzxcvbn.so.0"

    private static let functions: czxcvbn_functions? = {
        var functions = czxcvbn_functions()
        return unsafe czxcvbn_load(&functions, name) ? functions : nil
    }()

    /// The functions.
    static func load() throws(CryptographyFailure) -> czxcvbn_functions {
        guard let functions else { throw .libraryMissing(name) }
        return functions
    }
}
