import ByteStreams
import KeychainModel
import KeychainStore
import TestSupport
import Testing

@Suite struct LifeTests {
    @Test("an item that is added is there after the keychain is opened again")
    func roundTrip() throws {
        let bench = try Bench()
        let item = try bench.create(passcode: "open").add(password("ann"), secret: "tulip".secret, now: moment(1))
        let keychain = try bench.open()
        #expect(try keychain.find(ItemQuery()).items == [item])
        #expect(!keychain.isUnlocked)
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) { _ = try keychain.text(of: item) }
        try keychain.unlock(passcode: "open".secret, now: moment(2))
        #expect(try keychain.text(of: item) == "tulip")
    }
}
