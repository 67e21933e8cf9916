internal import KCByteStreams
internal import KCCryptography
internal import Synchronization

/// Remembers what scrypt made of the passcode that opened a keychain last, so that it need not be derived again.
///
/// The output of scrypt and the device key open the keychain, as the passcode does: a memory belongs where the passcode
/// is kept, for as long as the passcode is. The contents of a memory are wiped when it is released. A memory can be
/// used on several threads.
package final class PasscodeMemory: Sendable {
    /// The output of scrypt for a passcode, and all that it depends on.
    final class Entry: Sendable {
        private let passcode: SecretBytes
        private let salt: [UInt8]
        private let cost: ScryptCost
        let output: SecretBytes

        fileprivate init(
            _ output: borrowing SecretBytes, of passcode: borrowing SecretBytes, salt: [UInt8], _ cost: ScryptCost
        ) {
            self.passcode = passcode.copy()
            self.salt = salt
            self.cost = cost
            self.output = output.copy()
        }

        fileprivate func fits(_ passcode: borrowing SecretBytes, salt: [UInt8], _ cost: ScryptCost) -> Bool {
            self.salt == salt && self.cost == cost && constantTimeEqual(self.passcode, passcode)
        }
    }

    private let last = Mutex<Entry?>(nil)

    /// Creates a memory with nothing in it.
    package init() {}

    /// The entry of this passcode; nil if another one, or none, was kept last.
    func entry(for passcode: borrowing SecretBytes, salt: [UInt8], _ cost: ScryptCost) -> Entry? {
        guard let entry = last.withLock({ $0 }), entry.fits(passcode, salt: salt, cost) else { return nil }
        return entry
    }

    /// Keeps what was made of a passcode that has opened the keychain, and nothing else any more.
    func keep(
        _ output: borrowing SecretBytes, of passcode: borrowing SecretBytes, salt: [UInt8], _ cost: ScryptCost
    ) {
        let entry = Entry(output, of: passcode, salt: salt, cost)
        last.withLock { $0 = entry }
    }
}
