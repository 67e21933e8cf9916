internal import KCAgeEncryption
internal import KCAsking
internal import KCByteStreams

/// A failure of reading a file, of which the failure itself does not name the file.
package struct InputFailure: Error {
    /// The file as the user named it.
    package let path: String
    package let cause: any Error

    package init(_ path: String, _ cause: any Error) { (self.path, self.cause) = (path, cause) }

    /// Runs `body`, which reads a file, and names the file in failures that do not.
    ///
    /// - Throws: `InputFailure` instead of `AgeFailure` and `StreamFailure`, also within `WrongSecret`, and what else `body`
    ///   throws.
    package static func naming<Result: ~Copyable>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as AgeFailure {
            throw InputFailure(path, failure)
        } catch let failure as StreamFailure {
            throw InputFailure(path, failure)
        } catch let wrong as WrongSecret {
            guard wrong.error is AgeFailure else { throw wrong }
            throw InputFailure(path, wrong)
        }
    }
}

/// A pipe that is named twice: a pipe returns its bytes only once.
package struct ReadTwice: Error, Hashable, Sendable {
    package let path: String
}
