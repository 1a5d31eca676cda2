import GodwitBase

extension AgeHeader {
  /// The file key, by whichever stanza and key fit first, once it has authenticated the header.
  ///
  /// Stanzas of types for which there is a key must be well-formed, all of them; others are passed over.
  func fileKey(identities: [AgeIdentity], passphrases: [SecretBytes], costMax: Int) throws -> AgeFileKey {
    // C2SP age, section "The scrypt recipient type": its stanza stands alone.
    guard stanzas.count == 1 || !stanzas.contains(where: { $0.type == ScryptStanza.type }) else {
      throw Self.malformed("a passphrase stanza is not the only one")
    }
    guard let fileKey = try unwrap(identities) ?? unwrap(passphrases, costMax) else {
      throw noKeyFits(identities, triedPassphrases: !passphrases.isEmpty)
    }
    guard isAuthentic(under: fileKey) else {
      throw GodwitError(
        .corruptFile, "the age header was changed after sealing", hint: "copy the file again from its source")
    }
    return fileKey
  }

  private func unwrap(_ identities: [AgeIdentity]) throws -> AgeFileKey? {
    let kinds = Set(identities.map(\.recipient.kind))
    let classical = kinds.contains(.x25519) ? try stanzas(X25519Stanza.type).map(X25519Stanza.init) : []
    let hybrid = kinds.contains(.hybrid) ? try stanzas(HybridStanza.type).map(HybridStanza.init) : []
    for identity in identities {
      switch identity.recipient.kind {
      case .x25519:
        let key = try identity.agreementKey()
        for stanza in classical {
          if let fileKey = try stanza.unwrap(with: key, of: identity.recipient) { return fileKey }
        }
      case .hybrid:
        let key = try HybridKey(seed: identity.secret)
        for stanza in hybrid {
          if let fileKey = try stanza.unwrap(with: key) { return fileKey }
        }
      }
    }
    return nil
  }

  private func unwrap(_ passphrases: [SecretBytes], _ costMax: Int) throws -> AgeFileKey? {
    guard !passphrases.isEmpty, let stanza = try stanzas(ScryptStanza.type).first.map(ScryptStanza.init) else {
      return nil
    }
    for passphrase in passphrases {
      if let fileKey = try stanza.unwrap(with: passphrase, costMax: costMax) { return fileKey }
    }
    return nil
  }

  private func stanzas(_ type: String) -> [AgeStanza] { stanzas.filter { $0.type == type } }

  private func noKeyFits(_ identities: [AgeIdentity], triedPassphrases: Bool) -> GodwitError {
    guard stanzas.first?.type != ScryptStanza.type else {
      return triedPassphrases
        ? GodwitError(.notARecipient, "the file is sealed to another passphrase")
        : GodwitError(
          .notARecipient, "the file is sealed to a passphrase",
          hint: "files between replicas are sealed to their keys; ask its sender to export again")
    }
    let kinds = Set(identities.map(\.recipient.kind.stanzaType))
    guard identities.isEmpty || stanzas.contains(where: { kinds.contains($0.type) }) else {
      return GodwitError(
        .notARecipient, "the file is sealed to keys of another kind than this replica's",
        hint: "replicas with post-quantum identities and others are never members of one group")
    }
    return GodwitError(
      .notARecipient, "the file is sealed to other recipients",
      hint: "ask its sender to add this replica as a member and export again")
  }
}
