import Foundation

/// A mark of chattr(1) that keeps a file, or what is in a folder, from changes; root cannot pass over it either.
package enum FileMark: String, CaseIterable, Sendable {
    case immutable = "i"
    case appendOnly = "a"

    /// Runs `body` while a file or folder has the mark.
    ///
    /// - Returns: false where the file system has no such marks, or this user may not set them; `body` does not run then.
    @discardableResult
    package func on(_ path: String, _ body: () throws -> Void) throws -> Bool {
        guard try set("+", path) else { return false }
        let result = Result { try body() }
        _ = try set("-", path)
        try result.get()
        return true
    }

    private func set(_ sign: String, _ path: String) throws -> Bool {
        guard ExternalProgram.locate("chattr") != nil else { return false }
        return try ExternalProgram.run("chattr", [sign + rawValue, path]).status == 0
    }
}
