import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Labels and annotations of Secrets of Kubernetes with the secret in them")
struct KubernetesLabelTests {
    @Test("A label that is the secret is left out, however short, and others are kept", arguments: [1, 2])
    func secretInLabel(_ copies: Int) throws {
        let others = (1..<copies).map { #","b\#($0)":"4711""# }.joined()
        let text =
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"door","labels":{"a":"4711"\#(others),"app":"47"}},"#
            + #""stringData":{"pin":"4711"}}"#
        let contents = try ForeignReading.read(text, as: KubernetesFormat())
        let values = try contents.entries.flatMap { entry in entry.item.extra.map { $0.value } }
        #expect(!values.contains("4711") && values.contains("47"))
        #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["\(copies) label with the secret in it"])
        #expect(contents.remarks.count == 1 && contents.remarks[0].contains("the label 'a' of 'door'"))
    }

    @Test("A label or an annotation whose name is the secret is left out, and the remark does not say the name")
    func secretInName() throws {
        let text =
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"door","labels":{"4711":"x","app":"47"},"#
            + #""annotations":{"example.org/4711":"y","team":"core"}},"stringData":{"pin":"4711","app":"app"}}"#
        let contents = try ForeignReading.read(text, as: KubernetesFormat())
        let extra = try #require(try contents.entries.first).item.extra
        #expect(!extra.contains { $0.name.contains("4711") })
        #expect(extra.contains { $0.name == "kubernetes.label.app" })
        #expect(extra.contains { $0.name == "kubernetes.annotation.team" })
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 label with the secret in it", "1 annotation with the secret in it",
            ])
        #expect(contents.remarks.count == 1 && !contents.remarks[0].contains("4711"))
    }

    @Test("A label or an annotation whose name has a longer secret in it is left out, and is not named")
    func secretWithinName() throws {
        let text =
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"door","labels":{"pre-s3cr3t-k3y.2":"x","s3cr3t-k3":"y"},"#
            + #""annotations":{"example.org/xs3cr3t-k3y":"y"}},"stringData":{"pin":"s3cr3t-k3y"}}"#
        let contents = try ForeignReading.read(text, as: KubernetesFormat())
        let extra = try #require(try contents.entries.first).item.extra
        #expect(extra.map { $0.name }.filter { $0.contains("s3cr3t-k3") } == ["kubernetes.label.s3cr3t-k3"])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 label with the secret in it", "1 annotation with the secret in it",
            ])
        #expect(contents.remarks.count == 1 && !contents.remarks[0].contains("s3cr3t"))
    }

    @Test(
        "An annotation that has the secret as base64 or escaped is left out, and others with escapes are kept",
        arguments: [
            (#"{\"password\":\"pa\\\"ss-word\\nline\"}"#, true),
            (#"{\"p\":\"{\\\"q\\\":\\\"pa\\\\\\\"ss-word\\\\nline\\\"}\"}"#, true),
            (#"x pa\\u0022ss-word\\u000aline"#, true), (#"auth cGEic3Mtd29yZApsaW5l"#, true),
            (#"auth aHVudGVyMi1sb25nZXI="#, true), (#"auth aHVudGVyMi1sb25nZXI;"#, true), (#"NDc"#, true),
            (#"{\"a\":\"\\ud83d\\ude00 \\ud83d \\n\"}"#, false), (#"a\\"#, false),
        ])
    func encodedSecret(annotation: String, isLeftOut: Bool) throws {
        let text =
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"door","annotations":{"a":"\#(annotation)"}},"#
            + #""stringData":{"k":"pa\"ss-word\nline","l":"hunter2-longer","m":"47"}}"#
        let contents = try ForeignReading.read(text, as: KubernetesFormat())
        let extra = try contents.entries.flatMap(\.item.extra)
        #expect(extra.contains { $0.name == "kubernetes.annotation.a" } != isLeftOut)
        #expect(contents.leftOut.isEmpty != isLeftOut)
    }

    @Test("Of many labels with the secret in them, some are named")
    func manyLabels() throws {
        let labels = (0..<1_000).map { #""l\#($0)":"4711""# }.joined(separator: ",")
        let text =
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"door","labels":{\#(labels)}},"#
            + #""stringData":{"pin":"4711"}}"#
        let remarks = try ForeignReading.read(text, as: KubernetesFormat()).remarks
        #expect(remarks.count == 1 && remarks[0].hasSuffix("the label 'l4' of 'door' and 995 more"))
    }
}
