internal import CKCSandbox

/// The system call that ended a process in the sandbox, according to the record that the process wrote.
///
/// The record comes from a process that may be in the hands of a stranger: it explains an ending, and decides nothing.
package enum RefusedCall: Hashable, Sendable {
    /// A connection to another program or machine.
    case socket
    /// A file: opened, asked for, made, changed or removed.
    case openFile
    /// Another program, process or thread.
    case startProgram
    /// The memory or the descriptors of another process.
    case trace
    /// A signal for another process.
    case signal
    /// Memory with code in it, or shared with a file.
    case memory
    /// Any other call, by its number on this kind of machine.
    case other(UInt32)

    /// The exit status of a process whose call was refused; by the numbers of another kind of machine, SIGSYS kills it.
    package static let status = CSANDBOX_STATUS

    /// Creates the call with a number.
    package init(number: UInt32) {
        switch csandbox_kind_of(Int(number)) {
        case csandbox_socket: self = .socket
        case csandbox_file: self = .openFile
        case csandbox_program: self = .startProgram
        case csandbox_trace: self = .trace
        case csandbox_signal: self = .signal
        case csandbox_memory: self = .memory
        default: self = .other(number)
        }
    }

    /// Reads the record at the end of what a process wrote; nil if there is none.
    package init?(endOf messages: some BidirectionalCollection<UInt8>) {
        let mark = Array(CSANDBOX_RECORD.utf8)
        let record = Array(messages.suffix(mark.count + 11))
        let digits = record.dropFirst(mark.count).dropLast()
        guard digits.count == 10, record.starts(with: mark), record.last == UInt8(ascii: "\n"),
            digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = UInt32(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.init(number: number)
    }
}
