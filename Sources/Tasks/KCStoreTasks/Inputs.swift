internal import Glibc
package import KCAsking
package import KCByteStreams
internal import KCConsole

extension InputFile {
    /// Returns the descriptor that a name refers to, which can be read only once; nil for a file.
    package static func descriptor(_ name: String) -> Int32? {
        if [standardInputName, "/dev/stdin"].contains(name) { return 0 }
        for folder in ["/dev/fd/", "/proc/self/fd/"] {
            if let number = name.exact.removingPrefix(folder) { return Int32(number) }
        }
        return nil
    }
}

extension Machine {
    /// Reads a small key file once, including from a pipe, from `-` or through a symbolic link.
    ///
    /// - Parameter isSecret: true if nobody else may be able to read or replace the file; pipes have no permissions.
    /// - Throws: `FileFailure`, `StreamFailure`.
    package func readKeyFile(_ path: String, isSecret: Bool) throws -> SecretBytes {
        switch try InputFile.open(resolveInput(path)) {
        case .file(let file): return try isSecret ? PrivateFile.read(file) : PrivateFile.readPublic(file)
        case .pipe(let pipe):
            return try readPipe(pipe, named: path, limit: PrivateFile.sizeLimit)
        }
    }

    /// Reads a pipe to its end.
    ///
    /// - Throws: `FileFailure` (`tooLarge`), `StreamFailure`.
    package func readPipe(_ pipe: OpenFile, named path: String, limit: Int) throws -> SecretBytes {
        var source = PipeSource(pipe: pipe)
        do throws(StreamFailure) {
            return try source.readAll(limit: limit, as: "size")
        } catch {
            guard case .limitExceeded = error.kind else { throw error }
            throw FileFailure(path, .tooLarge(limit: limit))
        }
    }

    /// Resolves the path of an input, which may be standard input.
    package func resolveInput(_ path: String) -> String {
        path == InputFile.standardInputName ? path : resolve(path)
    }
}

/// Refuses to read a pipe several times, since it returns its bytes only once; two secrets may be two lines of one pipe.
package func requireOneInput(_ paths: [String], _ sources: [SecretSource?]) throws(ReadTwice) {
    var taken: Set<Int32> = []
    for case .descriptor(let number) in sources { taken.insert(number) }
    for path in paths {
        guard let number = InputFile.descriptor(path) else { continue }
        guard taken.insert(number).inserted else { throw ReadTwice(path: path) }
    }
}
