internal import CKCLibArchive
package import KCByteStreams

/// The library that writes tar archives.
package enum TarLibrary {
    /// Loads it, if that has not been done.
    ///
    /// - Throws: `StreamFailure` of kind `libraryMissing`.
    package static func require() throws(StreamFailure) { _ = try LibArchive.load(.writingContainer) }

    /// Loads it, if it is there, and what reading zip files opens.
    package static func prepare() {
        LibArchive.prepare()
        ZipFile.prepare()
    }
}

/// The functions of libarchive, loaded when they are first needed.
enum LibArchive {
    /// The name of the library for the dynamic linker.
    private static let name = "libarchive.so.13"

    private static let functions: carchive_functions? = {
        var functions = carchive_functions()
        return unsafe carchive_load(&functions, name) ? functions : nil
    }()

    /// Loads the library, if it is there.
    static func prepare() { _ = functions }

    /// The functions.
    static func load(_ stage: StreamFailure.Stage) throws(StreamFailure) -> carchive_functions {
        guard let functions else { throw StreamFailure(stage, .libraryMissing(name)) }
        return functions
    }
}
