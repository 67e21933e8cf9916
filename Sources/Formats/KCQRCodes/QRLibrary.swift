internal import CKCQRencode

/// The functions of libqrencode, loaded when they are first needed.
enum QRLibrary {
    /// The table of functions; none of them may be called before `load` has returned.
    nonisolated(unsafe) static let functions: UnsafePointer<cqrencode_functions> = unsafe UnsafePointer(table)

    /// The name of the library for the dynamic linker.
    private static let name = "libqrencode.so.4"

    nonisolated(unsafe) private static let table = {
        let table = UnsafeMutablePointer<cqrencode_functions>.allocate(capacity: 1)
        unsafe table.initialize(to: cqrencode_functions())
        return unsafe table
    }()

    private static let missing: String? = unsafe cqrencode_load(table, name).map { unsafe String(cString: $0) }

    /// Makes sure that the functions can be called.
    static func load() throws(QRCodeFailure) {
        if let missing { throw .libraryMissing(missing) }
    }
}
