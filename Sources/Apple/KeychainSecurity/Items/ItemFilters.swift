internal import Foundation
internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// The `kSecMatch…` conditions that a keychain query cannot express.
struct ItemFilters {
    private(set) var ignoresCase = false
    private var host: String?
    private var subjectPart: String?
    private var emailAddress: String?
    private var issuers: [[UInt8]]?
    private var moment: Date?
    private var listed: [ListedItem]?

    /// True if there are no conditions, so that every item that the query finds is accepted.
    var isEmpty: Bool {
        !ignoresCase && host == nil && subjectPart == nil && emailAddress == nil && issuers == nil && moment == nil
            && listed == nil
    }

    /// Parses one condition.
    ///
    /// - Throws: `CallFailure`: `errSecUnimplemented` for conditions that need trust evaluation, `errSecParam`.
    mutating func read(_ key: String, _ value: Any) throws(CallFailure) {
        switch key {
        case kSecMatchCaseInsensitive: ignoresCase = try ItemRequest.flag(value)
        case kSecMatchHostOrSubdomainOfHost: host = try Self.text(value).lowercased()
        case kSecMatchSubjectContains: subjectPart = try Self.text(value)
        case kSecMatchEmailAddressIfPresent: emailAddress = try Self.text(value).lowercased()
        case kSecMatchIssuers:
            guard let names = value as? [Data] else { throw CallFailure(errSecParam) }
            issuers = names.map { Array($0) }
        case kSecMatchValidOnDate:
            // Null means now.
            if value is NSNull {
                moment = Date()
            } else if let date = value as? Date {
                moment = date
            } else {
                throw CallFailure(errSecParam)
            }
        case kSecMatchItemList:
            guard let list = value as? [Any] else { throw CallFailure(errSecParam) }
            var items: [ListedItem] = []
            for element in list { items.append(try ListedItem(element)) }
            listed = items
        case kSecMatchTrustedOnly where try !ItemRequest.flag(value): break
        case kSecMatchPolicy, kSecMatchTrustedOnly, kSecMatchSearchList, kSecMatchSubjectStartsWith,
            kSecMatchSubjectEndsWith, kSecMatchSubjectWholeString,
            kSecMatchDiacriticInsensitive, kSecMatchWidthInsensitive:
            throw CallFailure(errSecUnimplemented)
        default: throw CallFailure(errSecParam)
        }
    }

    /// Checks that the conditions apply to the subject.
    ///
    /// - Throws: `CallFailure` (`errSecParam`).
    func check(_ subject: ItemRequest.Subject) throws(CallFailure) {
        let isAboutCertificates = subjectPart != nil || emailAddress != nil || issuers != nil || moment != nil
        guard host == nil || subject == .items(.internetPassword),
            !isAboutCertificates || subject == .items(.certificate) || subject == .identities
        else { throw CallFailure(errSecParam) }
        // The listed items must be of the requested kind.
        guard listed?.allSatisfy({ $0.subject == subject }) ?? true else { throw CallFailure(errSecParam) }
    }

    /// Splits attributes into those that the query compares byte by byte and those that `accepts` compares.
    func split(
        _ attributes: [AttributeCode: AttributeValue]
    ) -> (exact: [AttributeCode: AttributeValue], folded: [AttributeCode: String]) {
        guard ignoresCase else { return (attributes, [:]) }
        var exact = attributes
        var folded: [AttributeCode: String] = [:]
        for (code, value) in attributes where code != .agrp && code != .pdmn {
            guard case .text(let text) = value else { continue }
            exact[code] = nil
            folded[code] = text.lowercased()
        }
        return (exact, folded)
    }

    /// True if an item satisfies the conditions on its attributes.
    func accepts(_ item: Item, folded: [AttributeCode: String]) -> Bool {
        let fits = folded.allSatisfy { code, text in (item.attributes.text(code) ?? "").lowercased() == text }
        if let listed, !listed.contains(where: { $0.isPart(item) }) { return false }
        guard let host else { return fits }
        let server = (item.attributes.text(.srvr) ?? "").lowercased()
        return fits && (server == host || server.exact.hasSuffix("." + host))
    }

    /// True if a certificate, given in DER, satisfies the conditions on certificates; false if `der` is not a
    /// certificate.
    func accepts(certificate der: Data?) -> Bool {
        if subjectPart == nil, emailAddress == nil, issuers == nil, moment == nil { return true }
        guard let der, let certificate = try? X509Certificate(der: Array(der)) else { return false }
        if let subjectPart, certificate.subjectSummary?.localizedCaseInsensitiveContains(subjectPart) != true {
            return false
        }
        if let emailAddress {
            let addresses = certificate.emailAddresses.map { $0.lowercased() }
            guard addresses.isEmpty || addresses.contains(emailAddress) else { return false }
        }
        if let issuers, !issuers.contains(certificate.issuer), !issuers.contains(certificate.normalizedIssuer) {
            return false
        }
        guard let moment else { return true }
        let seconds = moment.timeIntervalSince1970
        return Double(certificate.notBefore) <= seconds && seconds <= Double(certificate.notAfter)
    }

    private static func text(_ value: Any) throws(CallFailure) -> String {
        guard let text = value as? String else { throw CallFailure(errSecParam) }
        return text
    }
}
