/// Evaluates an expression, and throws what `convert` makes of its error.
///
/// As an expression, unlike as a closure, its type of error is inferred.
///
/// ```swift
/// let lock = try failing(as: LocalKeychainFailure.file, FileLock.ofFolder(path))
/// ```
package func failing<Result: ~Copyable, Cause: Error, Failure: Error>(
    as convert: (Cause) -> Failure, _ expression: @autoclosure () throws(Cause) -> Result
) throws(Failure) -> Result {
    do {
        return try expression()
    } catch {
        throw convert(error)
    }
}
