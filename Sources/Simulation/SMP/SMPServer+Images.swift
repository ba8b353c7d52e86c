import OtaflashUpdate

/// The list of images and what shall run next: commands 0 and 6 of the image group.
extension SMPServer {
  /// The octets of a slot in flash.
  func slot(_ index: Int) -> [UInt8]? {
    let start = parts.profile.layout.slot(index)
    do throws(FlashFault) {
      return try parts.flash.read(start..<start + parts.profile.slotSize)
    } catch {
      parts.note(error)
      return nil
    }
  }

  func image(in index: Int) -> BootableImage? {
    slot(index).flatMap { BootableImage(decoding: $0[...]) }
  }

  /// Where in flash the slot of a number lies: 0 is the running one, unless slots are places.
  func physicalSlot(_ number: Int) -> Int? {
    guard (0...1).contains(number) else { return nil }
    if settings.mode.hasFixedSlots { return number }
    return number == 0 ? record.active : record.inactive
  }

  // MARK: The list

  func imageState(_ record: BootRecord) -> SMPImage.State {
    let slots = (0...1).compactMap { number -> SMPImage.Slot? in
      guard let place = physicalSlot(number), let image = image(in: place) else { return nil }
      return SMPImage.Slot(
        slot: number, version: image.version.description, hash: image.hash,
        flags: flags(of: place, image, record))
    }
    return SMPImage.State(slots: slots, splitStatus: 0)
  }

  private func flags(
    of place: Int, _ image: BootableImage, _ record: BootRecord
  ) -> SMPImage.Slot.Flags {
    var flags: SMPImage.Slot.Flags = image.isBootable ? .bootable : []
    if place == record.active {
      if !isRecovery { flags.insert(.active) }
      if !record.isOnTrial { flags.insert(.confirmed) }
      return flags
    }
    // What comes back at the next reset counts as confirmed.
    if record.isOnTrial { flags.insert(.confirmed) }
    if record.isPending { flags.insert(.pending) }
    if record.isPermanent { flags.insert(.permanent) }
    if settings.mode.choosesByVersion, let running = self.image(in: record.active),
      image.version > running.version
    {
      flags.insert(.pending)
    }
    return flags
  }

  var slotInformation: SMPImage.SlotInfo.Response {
    let slots = (0...1).map { number in
      SMPImage.SlotInfo.Slot(
        slot: number, size: parts.profile.slotSize,
        uploadImage: physicalSlot(number) == record.active ? nil : 0)
    }
    return SMPImage.SlotInfo.Response(
      images: [SMPImage.SlotInfo.Image(image: 0, slots: slots, largestImage: imageMaximum)])
  }

  // MARK: What runs next

  func setImageState(_ request: SMPImage.WriteState) throws(SMPServerRefusal) -> Work {
    let place = try place(of: request)
    var next = record
    if place == record.active {
      guard request.isConfirmed else { throw .image(.testOfActiveDenied) }
      next.isOnTrial = false
    } else if !settings.mode.choosesByVersion {
      // Two images cannot both be on their way.
      guard !record.isOnTrial else { throw .image(.alreadyPending) }
      next.isPending = true
      next.isPermanent = request.isConfirmed || !settings.mode.reverts
    }
    guard next != record else { return Work(answer: .imageState(next)) }
    next.sequence += 1
    return Work(operations: loader.operations(storing: next), answer: .imageState(next))
  }

  private func place(of request: SMPImage.WriteState) throws(SMPServerRefusal) -> Int {
    guard let hash = request.hash else {
      guard request.isConfirmed else { throw .image(.invalidHash) }
      return record.active
    }
    guard hash.count == 32 else { throw .image(.invalidHash) }
    guard let place = (0...1).first(where: { image(in: $0)?.hash == hash }) else {
      throw .image(.hashNotFound)
    }
    return place
  }
}
