import AppleCode
import AsksForSecurity
import CSQLite
import CZlib
import Console
import Crypto
import Cryptography
import Foundation
import KeychainSecurity
import Logging
import NIOCore
import NIOPosix
import SAMKeychain
import SystemPackage
import TestSupport
import X509

// Uses all of them, in one program: that this compiles is most of the test.
precondition([Console.name, Cryptography.name, TestSupport.name] == ["Console", "Cryptography", "TestSupport"])
precondition(csqlite_answer() == 1 && czlib_answer() == 1)
precondition(SHA256.hash(data: Data()).description.hasSuffix("855"))
precondition(ByteBuffer(string: "three").readableBytes == 5 && FilePath("/a/b").lastComponent == "b")
precondition((try? Certificate(derEncoded: [1, 2, 3])) == nil)
precondition(!isOnAppleSystem)
precondition(SAMKeychain.accessibilityType() == nil)

// Both products are one library, with one state: what one name stores, the other finds.
try KeychainClient.openOrCreate(passcode: nil)
let service = "beside others"
let item: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
    kSecValueData as String: Data("tulip".utf8),
]
precondition(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
precondition(status(ofQueryFor: service) == errSecSuccess)
precondition(status(ofQueryFor: "another") == errSecItemNotFound)

let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
try await group.next().submit { Logger(label: "beside").info("the keychain and SwiftNIO in one program") }.get()
try await group.shutdownGracefully()
print("all libraries answer")
