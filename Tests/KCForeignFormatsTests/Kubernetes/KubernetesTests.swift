import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

/// Files as `kubectl` writes them.
enum KubernetesSample {
    static let list =
        #"{"apiVersion":"v1","items":[{"apiVersion":"v1","data":{"password":"cGFzcwBcbg==","username":"YWRh"},"#
        + #""kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"#
        + #""{\"stringData\":{\"password\":\"x\"}}","team":"core","copy":"has cGFzcwBcbg== in it"},"#
        + #""creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"db"},"managedFields":[{"manager":"kubectl","#
        + #""operation":"Update","time":"2026-02-03T04:05:06Z","fieldsV1":{"f:data":{}}}],"name":"db","#
        + #""namespace":"shop","ownerReferences":[{"kind":"App","name":"a","uid":"u"}],"resourceVersion":"7","#
        + #""uid":"u"},"type":"Opaque"},{"apiVersion":"v1","data":{"tls.crt":"Y3J0","tls.key":"a2V5"},"immutable":true,"#
        + #""kind":"Secret","metadata":{"name":"web-tls","namespace":"shop"},"type":"kubernetes.io/tls"},"#
        + #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"empty","namespace":"kube-system"},"type":"Opaque"},"#
        + #"{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"},"metadata":{"name":"c"}},"#
        + #"{"apiVersion":"bitnami.com/v1alpha1","kind":"SealedSecret","metadata":{"name":"s"},"#
        + #""spec":{"encryptedData":{"a":"AgB"}}}],"kind":"List","metadata":{"resourceVersion":""}}"#

    static let yaml = """
        # as written by hand
        apiVersion: v1
        kind: Secret
        metadata:
          name: db
          namespace: shop
          labels: {app: db, version: 1.10}
        type: Opaque
        stringData:
          answer: yes
          port: 0600
          text: |
            two
            lines
          empty:
        ---
        apiVersion: v1
        kind: Secret
        immutable: true
        metadata:
          name: web-tls
        type: kubernetes.io/tls
        data:
          tls.crt: &cert |
            Y3J0
            Y3J0
          tls.key: *cert
        """
}

@Suite("Secrets of Kubernetes")
struct KubernetesTests {
    private func read(_ text: String) throws -> ForeignContents {
        let format = KubernetesFormat()
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name == "kubernetes")
        return try ForeignReading.read(text, as: format)
    }

    @Test("Each value of each Secret is an item; what repeats it, and other kinds of object, are left out and counted")
    func list() throws {
        let contents = try read(KubernetesSample.list)
        #expect(
            try contents.listing == [
                "genp svce=kubernetes/kube-system/empty desc=Kubernetes Secret: no secret",
                "genp svce=kubernetes/shop/db acct=password desc=Kubernetes Secret: pass\0\\n",
                "genp svce=kubernetes/shop/db acct=username desc=Kubernetes Secret: ada",
                "genp svce=kubernetes/shop/web-tls acct=tls.crt desc=Kubernetes Secret: crt",
                "genp svce=kubernetes/shop/web-tls acct=tls.key desc=Kubernetes Secret: key",
            ])
        #expect(contents.refused == [])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "2 annotation with the secret in it", "1 owner of a Secret", "1 ConfigMap object",
                "1 SealedSecret object",
            ])
        #expect(
            contents.remarks == [
                "SealedSecrets open only in the controller of their cluster",
                "not kept, since the secret is in it, and missing in an export: the annotation 'copy' of 'shop/db'",
            ])
        let item = try #require(try contents.entries.first { $0.item.attributes.text(.acct) == "username" }).item
        #expect(item.extraValue("kubernetes.label.app") == "db")
        #expect(item.extraValue("kubernetes.annotation.team") == "core")
        #expect(item.extraValue("kubernetes.annotation.copy") == nil)
        #expect(item.created.description.hasPrefix("2026-01-02T03:04:05"))
        #expect(item.modified.description.hasPrefix("2026-02-03T04:05:06"))
        #expect(try read(KubernetesSample.list).uuids == contents.uuids)
    }

    @Test("YAML is read by its text: no value becomes a flag or a number, and an alias is what it stands for")
    func yaml() throws {
        let contents = try read(KubernetesSample.yaml)
        #expect(
            try contents.listing == [
                "genp svce=kubernetes/shop/db acct=answer desc=Kubernetes Secret: yes",
                "genp svce=kubernetes/shop/db acct=empty desc=Kubernetes Secret: ",
                "genp svce=kubernetes/shop/db acct=port desc=Kubernetes Secret: 0600",
                "genp svce=kubernetes/shop/db acct=text desc=Kubernetes Secret: two\nlines\n",
                "genp svce=kubernetes/web-tls acct=tls.crt desc=Kubernetes Secret: crtcrt",
                "genp svce=kubernetes/web-tls acct=tls.key desc=Kubernetes Secret: crtcrt",
            ])
        let item = try #require(try contents.entries.first { $0.item.attributes.text(.acct) == "port" }).item
        #expect(item.extraValue("kubernetes.label.version") == "1.10")
        let tls = try #require(try contents.entries.last).item
        #expect(tls.extraValue("kubernetes.immutable") == "true")
    }

    @Test("A list of one kind need not say the kind of its members")
    func secretList() throws {
        let text = #"{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"name":"a"},"data":{"k":"dg=="}}]}"#
        #expect(try read(text).listing == ["genp svce=kubernetes/a acct=k desc=Kubernetes Secret: v"])
    }

    @Test(
        "One Secret that is damaged is named, and the others are read",
        arguments: [
            (#""data":{"k":"%"}"#, "base64"), (#""data":{"a b":"dg=="}"#, "key"),
            (#""data":["dg=="]"#, "not an object"),
            (#""data":{"k":7}"#, "not a string"), (#""metadata":{"name":"A"}"#, "its name"),
            (#""metadata":{"name":"a/b"}"#, "its name"), (#""metadata":{}"#, "no name"),
            (#""immutable":"maybe""#, "flag"),
            (#""metadata":{"name":"good"}"#, "same name"), (#""data":{"..":"dg=="}"#, "key"),
        ])
    func damaged(member: String, rule: String) throws {
        let metadata = member.hasPrefix(#""metadata"#) ? "" : #","metadata":{"name":"bad"}"#
        let text =
            #"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"good"},"#
            + #""data":{"k":"dg=="}},{"apiVersion":"v1","kind":"Secret",\#(member)\#(metadata)}]}"#
        let contents = try read(text)
        #expect(try contents.listing == ["genp svce=kubernetes/good acct=k desc=Kubernetes Secret: v"])
        #expect(contents.refused.count == 1)
        guard case .damaged(let found) = contents.refused.first?.problem else {
            Issue.record("another problem")
            return
        }
        #expect(found.contains(rule), "\(found)")
    }

    @Test(
        "A file without a Secret says what it is and where Secrets come from",
        arguments: [
            (#"{"apiVersion":"bitnami.com/v1alpha1","kind":"SealedSecret","spec":{}}"#, "SealedSecrets"),
            (#"{"apiVersion":"v1","kind":"ConfigMap","data":{}}"#, "without a Secret"),
            ("apiVersion: v1\nkind: Config\nclusters: []\n", "without a Secret"),
            (
                "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {k: 'ENC[AES256_GCM,data:x]'}\nsops: {mac: x}\n",
                "SOPS"
            ),
        ])
    func refused(text: String, title: String) throws {
        let failure = #expect(throws: ForeignFailure.self) { try read(text) }
        guard case .refused(let found, _) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        #expect(found.contains(title))
    }

    @Test("An empty list has no items, and is no error")
    func empty() throws {
        #expect(try read(#"{"apiVersion":"v1","kind":"List","items":[]}"#).items.count == 0)
        #expect(try read("apiVersion: v1\nitems: []\nkind: List\n").items.count == 0)
    }

    @Test(
        "YAML that could mean something else is refused with its line",
        arguments: [
            ("data: {k: dg==, k: dg==}", "twice"), ("data: {k: !!int 7}", "tag"), ("data: {k: !x y}", "tag"),
            ("data: {k: *none}", "no anchor"), ("data: &d {k: *d}", "inside"), ("data: {[a]: b}", "key"),
            ("data: {<<: {k: dg==}}", "merge"), ("data: {k: !!binary '/w=='}", "binary"), ("data: !!set {k}", "tag"),
            ("data: {*a : b}", "alias"), ("data: {k: 'x", "end of stream"),
        ])
    func ambiguous(member: String, rule: String) throws {
        let failure = #expect(throws: ForeignFailure.self) {
            try read("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n\(member)\n")
        }
        guard case .damagedLine(let line, let found) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        #expect(found.contains(rule), "\(found)")
        #expect(line >= 4)
    }

    @Test("Aliases that multiply, and nesting without end, exceed a limit")
    func limits() throws {
        var laughs = "apiVersion: v1\nkind: Secret\na0: &a0 [\(String(repeating: "x, ", count: 100))]\n"
        for level in 1..<12 {
            laughs +=
                "a\(level): &a\(level) [\(Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ","))]\n"
        }
        let deep = "apiVersion: v1\nkind: Secret\nx: " + String(repeating: "[", count: 5_000)
        for text in [laughs, deep] {
            let failure = #expect(throws: ForeignFailure.self) { try read(text) }
            guard case .limit = failure else {
                Issue.record("another failure: \(String(describing: failure))")
                continue
            }
        }
    }

    @Test("A Secret without an API version is named, and an annotation that a value holds is left out")
    func withoutVersion() throws {
        let text =
            #"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"good","#
            + #""annotations":{"openshift.io/token-secret.value":"eyJhbGciOi"}},"stringData":{"k":"x eyJhbGciOi y"}},"#
            + #"{"kind":"Secret","metadata":{"name":"bad"},"data":{"k":"dg=="}}]}"#
        let contents = try read(text)
        #expect(contents.refused.map(\.name) == ["bad"])
        #expect(contents.leftOut.map(\.kind) == ["annotation with the secret in it"])
    }

    @Test("A member that is null is remarked on, and an empty document is not")
    func nullMember() throws {
        let secret = #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":"dg=="}}"#
        let remarks = ["a list has 'null' in the place of a member: is all of it there?"]
        for text in [
            #"{"apiVersion":"v1","kind":"List","items":[null,\#(secret)]}"#,
            "apiVersion: v1\nitems:\n- \(secret)\n-\nkind: List\n",
        ] {
            let contents = try read(text)
            #expect(contents.items.count == 1)
            #expect(contents.remarks == remarks, "\(text)")
        }
        let documents = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {k: dg==}\n---\n---\n"
        #expect(try read(documents).remarks == [])
    }

    @Test("A list of nothing is remarked on")
    func nullList() throws {
        let contents = try read(#"{"apiVersion":"v1","kind":"SecretList","items":null}"#)
        #expect(contents.items.count == 0)
        #expect(contents.remarks == ["a list has 'null' in the place of its members: is all of it there?"])
    }

    @Test("A YAML file that ends early is damaged, wherever it ends before the kind of its objects")
    func endsEarly() throws {
        let text =
            "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    a: dg==\n    b: dw==\n  kind: Secret\n  metadata:\n"
            + "    name: one\nkind: List\n"
        #expect(try read(text).items.count == 2)
        let lines = text.split(separator: "\n")
        for count in 2..<lines.count {
            #expect(throws: ForeignFailure.self, "\(count) lines") {
                try ForeignReading.read(lines.prefix(count).joined(separator: "\n"), as: KubernetesFormat())
            }
        }
    }

    @Test("A Secret of a cluster is damaged wherever its YAML ends early; another is remarked on if a key is missing")
    func endsBetweenMembers() throws {
        let text =
            "apiVersion: v1\ndata:\n  a: dg==\nkind: Secret\nmetadata:\n  creationTimestamp: \"2026-01-02T03:04:05Z\"\n"
            + "  name: one\n  namespace: shop\n  resourceVersion: \"7\"\n  uid: u\ntype: Opaque\n"
        #expect(try read(text).listing == ["genp svce=kubernetes/shop/one acct=a desc=Kubernetes Secret: v"])
        let lines = text.split(separator: "\n")
        for count in 2..<lines.count {
            let cut = lines.prefix(count).joined(separator: "\n") + "\n"
            do {
                let contents = try ForeignReading.read(cut, as: KubernetesFormat())
                // Without a name it is left out, and named.
                #expect(contents.refused.count == 1 && contents.items.count == 0, "\(cut)")
            } catch {
                #expect(error is ForeignFailure)
            }
        }
        // Not the last one, or not of a cluster.
        let edited = lines.dropLast().joined(separator: "\n") + "\n---\n" + text.replacing("one", with: "two")
        #expect(try read(edited).items.count == 2)
        let made = "apiVersion: v1\ndata:\n  a: dg==\nkind: Secret\nmetadata:\n  creationTimestamp: null\n  name: one\n"
        #expect(try read(made).remarks == [])
        let certificate =
            "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nmetadata:\n  name: one\ndata:\n  tls.crt: dg==\n"
        #expect(
            try read(certificate).remarks == [
                "the Secret 'one' lacks the key tls.key, which its type asks for: is all of it there?"
            ])
        #expect(try read(certificate + "  tls.key: dg==\n").remarks == [])
    }

    private static let block =
        "kind: Secret\napiVersion: v1\nmetadata:\n  name: a\n  namespace: b\ndata:\n  k: dg==\n  text: |\n    dw==\n"

    @Test(
        "YAML is read in whatever form it is written",
        arguments: [
            block, "\u{feff}" + block, block.replacing("\n", with: "\r\n"), "---\n" + block, block + "---\n",
            "---\n---\n" + block, "%YAML 1.1\n---\n" + block + "...\n", "# a\n\n" + block,
            "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, data: {k: dg==, text: dw==}}",
            "--- {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, data: {k: dg==, text: dw==}}\n",
            "  'apiVersion' : v1\n  'kind': Secret\n  metadata: {name: a, namespace: b}\n  data: {k: dg==, text: dw==}\n",
            "apiVersion: v1\nkind: Secret\nmetadata: &m {name: a, namespace: b}\ndata: {k: &k dg==, text: dw==}\n"
                + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: x}\n",
        ])
    func forms(text: String) throws {
        let contents = try read(text)
        #expect(
            try contents.listing == [
                "genp svce=kubernetes/b/a acct=k desc=Kubernetes Secret: v",
                "genp svce=kubernetes/b/a acct=text desc=Kubernetes Secret: w",
            ])
        #expect(contents.remarks == [])
    }

    @Test("JSON may begin with a byte order mark")
    func markedJSON() throws {
        #expect(try read("\u{feff}" + KubernetesSample.list).items.count == 5)
    }

    @Test(
        "What only speaks of such objects is not taken for them",
        arguments: [
            "title,note\na,\"apiVersion: v1, kind: Secret\"\n", "- apiVersion\n- kind\n- metadata\n",
            "note: |\n  apiVersion: v1\n  kind: Secret\n", "---\n", "--- \n---\n", "{\"items\":[]}",
        ])
    func others(text: String) throws {
        #expect(try !KubernetesFormat().recognises(ForeignReading.input(Array(text.utf8))))
    }

    @Test("A YAML file that may have been cut off is remarked on, where that can be seen, and damaged where it is sure")
    func mayBeCutOff() throws {
        let whole = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  k: dg==\n"
        #expect(try read(whole).remarks == [])
        for value in [">-\n    dg==", "dg== # a |"] {
            #expect(try read(whole.replacing("dg==", with: value)).remarks == [], "\(value)")
        }
        let headers = ["|", ">", "|-", ">-", "|+", "&a |"].map { "  k: dg==\n  l: \($0)\n" }
        for end in ["  k: dg==\n  l: dw==", "  k: dg==\n  l:\n"] + headers {
            let contents = try read(whole.replacing("  k: dg==\n", with: end))
            #expect(contents.remarks.count == 1, "\(end)")
            #expect(contents.remarks.first?.contains("is all of it there?") ?? false)
        }
        for text in ["kind: List\napiVersion: v1\nitems:\n", "kind: SecretList\napiVersion: v1\nitems: ~\n"] {
            #expect(throws: ForeignFailure.damaged("a list has no members, as if the file ended early")) {
                try read(text)
            }
        }
    }

    @Test("Members that no Secret has are named")
    func unknown() throws {
        let text =
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","x":{"y":"1"}},"data":{"k":"dg=="},"new":"2"}"#
        #expect(try read(text).remarks == ["unknown members, which may be of a newer version: y, new"])
    }
}
