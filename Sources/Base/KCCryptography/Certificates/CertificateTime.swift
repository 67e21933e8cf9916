internal import CKCLibCrypto

/// The two encodings of a time in a certificate.
package enum CertificateTime: Hashable, Sendable {
    /// With a two-digit year, 1950 to 2049.
    case utcTime
    /// With a four-digit year.
    case generalizedTime

    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds; nil if the text is not such a time.
    ///
    /// Besides the forms of RFC 5280 (`YYMMDDhhmmssZ`, `YYYYMMDDhhmmssZ`), it accepts those that Apple accepts: an
    /// offset `+hhmm` or `-hhmm` instead of `Z`, and a UTCTime without seconds before `Z`.
    package func secondsSince1970(_ text: [UInt8]) -> Int64? {
        let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
        let zone = text.dropFirst(digits)
        let isOffset = zone.count == 5 && (zone.first == UInt8(ascii: "+") || zone.first == UInt8(ascii: "-"))
        let isZulu = zone.elementsEqual([UInt8(ascii: "Z")])
        let isShaped =
            switch self {
            case .utcTime: digits == 12 && (isZulu || isOffset) || digits == 10 && isZulu
            case .generalizedTime: digits == 14 && (isZulu || isOffset)
            }
        guard isShaped else { return nil }
        return difference(from: text)
    }

    /// Leaves the calendar arithmetic to libcrypto, which accepts more forms than this reader.
    private func difference(from text: [UInt8]) -> Int64? {
        defer { ERR_clear_error() }
        let type = self == .utcTime ? V_ASN1_UTCTIME : V_ASN1_GENERALIZEDTIME
        let time = unsafe ASN1_STRING_type_new(type)
        defer { unsafe ASN1_STRING_free(time) }
        let epoch = unsafe ASN1_TIME_set(nil, 0)
        defer { unsafe ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard unsafe time != nil, unsafe epoch != nil, unsafe ASN1_STRING_set(time, text, Int32(text.count)) == 1,
            unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1
        else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}
