/// Something that happens while a task works, and that is told meanwhile.
///
/// Each target of tasks has types of its own for what its tasks tell, as it has for errors. The program words them.
package protocol TaskEvent {}

/// An event while secrets are read.
package enum SecretEvent: TaskEvent, Hashable, Sendable {
    /// A new secret will be hard to type.
    case oddity(SecretOddity, of: SecretQuestion)
    /// A secret that was right was set with a carriage return or a byte order mark, as Windows adds them.
    case setWithMarks(SecretQuestion.Kind)
}
