import Foundation
import Testing

@testable import KeychainSecurity

@Suite("Policies")
struct PolicyTests {
    private static func properties(_ policy: SecPolicy?) -> [String: String] {
        let properties = policy.flatMap { SecPolicyCopyProperties($0) } as? [String: Any] ?? [:]
        return properties.mapValues { "\($0)" }
    }

    private static func make(_ identifier: CFString, _ properties: [String: Any]?) -> SecPolicy? {
        SecPolicyCreateWithProperties(identifier, properties.map { $0 as CFDictionary })
    }

    @Test("Properties are those with which a policy was made")
    func properties() {
        let tls = ["SecPolicyOid": "1.2.840.113635.100.1.3"]
        #expect(Self.properties(SecPolicyCreateBasicX509()) == ["SecPolicyOid": "1.2.840.113635.100.1.2"])
        #expect(Self.properties(SecPolicyCreateSSL(true, nil)) == tls)
        #expect(
            Self.properties(SecPolicyCreateSSL(true, "a.org" as CFString))
                == tls.merging(["SecPolicyName": "a.org"]) { $1 })
        #expect(Self.properties(SecPolicyCreateSSL(false, nil)) == tls.merging(["SecPolicyClient": "true"]) { $1 })
        #expect(
            Self.properties(SecPolicyCreateRevocation(kSecRevocationOCSPMethod))
                == ["SecPolicyOid": "1.2.840.113635.100.1.21"])
    }

    @Test("A policy made from properties equals the one made by its function")
    func equality() {
        #expect(Self.make(kSecPolicyAppleX509Basic, nil) == SecPolicyCreateBasicX509())
        #expect(Self.make(kSecPolicyAppleX509Basic, [:]) == SecPolicyCreateBasicX509())
        let name: [String: Any] = [kSecPolicyName as String: "a.org"]
        #expect(Self.make(kSecPolicyAppleSSL, name) == SecPolicyCreateSSL(true, "a.org" as CFString))
        #expect(
            Self.make(kSecPolicyAppleSSL, name.merging([kSecPolicyClient as String: true]) { $1 })
                == SecPolicyCreateSSL(false, "a.org" as CFString))
        #expect(Self.make(kSecPolicyAppleSSL, [kSecPolicyClient as String: false]) == SecPolicyCreateSSL(true, nil))
        #expect(
            Self.make(kSecPolicyAppleRevocation, nil) == SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod))
        #expect(
            Self.make(kSecPolicyAppleRevocation, [kSecPolicyRevocationFlags as String: 9])
                == SecPolicyCreateRevocation(9))
        #expect(SecPolicyCreateSSL(true, "a.org" as CFString) != SecPolicyCreateSSL(true, "b.org" as CFString))
        #expect(SecPolicyCreateSSL(true, "" as CFString) != SecPolicyCreateSSL(true, nil))
    }

    @Test("What would not be checked makes no policy")
    func refused() {
        for identifier in [
            kSecPolicyAppleSMIME, kSecPolicyAppleEAP, kSecPolicyAppleIPsec, kSecPolicyAppleCodeSigning,
            kSecPolicyAppleIDValidation, kSecPolicyMacAppStoreReceipt, kSecPolicyAppleTimeStamping,
            kSecPolicyApplePassbookSigning, kSecPolicyApplePayIssuerEncryption, "x",
        ] { #expect(Self.make(identifier, nil) == nil) }
        #expect(SecPolicyCreateWithProperties(7, nil) == nil)
        let name = kSecPolicyName as String
        #expect(Self.make(kSecPolicyAppleX509Basic, [name: "a.org"]) == nil)
        #expect(Self.make(kSecPolicyAppleSSL, [name: 7]) == nil)
        #expect(Self.make(kSecPolicyAppleSSL, [name: ["a.org"]]) == nil)
        #expect(Self.make(kSecPolicyAppleSSL, [kSecPolicyClient as String: "yes"]) == nil)
        #expect(Self.make(kSecPolicyAppleSSL, [kSecPolicyTeamIdentifier as String: "x"]) == nil)
        #expect(Self.make(kSecPolicyAppleSSL, [kSecPolicyRevocationFlags as String: 1]) == nil)
        #expect(Self.make(kSecPolicyAppleRevocation, [kSecPolicyRevocationFlags as String: 0]) == nil)
        #expect(Self.make(kSecPolicyAppleRevocation, [kSecPolicyRevocationFlags as String: -1]) == nil)
    }
}
