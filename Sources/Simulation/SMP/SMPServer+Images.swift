import OtaflashWire

/// The list of images and the next image to run (command 0 of the image management group), and the
/// slot information (command 6).
extension SMPServer {
  private static let slotsPerImage = 2

  /// Returns the content of a slot in flash; `nil` if the flash cannot be read.
  func slot(_ place: SlotPlace) -> [UInt8]? {
    let start = address(of: place)
    do throws(FlashFault) {
      return try parts.flash.read(start..<start + parts.settings.slotSize)
    } catch {
      parts.note(error)
      return nil
    }
  }

  func address(of place: SlotPlace) -> Int { images[place.image].layout.slot(place.slot) }

  func image(in place: SlotPlace) -> BootableImage? {
    slot(place).flatMap { BootableImage(decoding: $0[...]) }
  }

  /// Returns the active slot of an image.
  func active(_ image: Int) -> SlotPlace {
    SlotPlace(image: image, slot: images[image].record.active)
  }

  func inactive(_ image: Int) -> SlotPlace {
    SlotPlace(image: image, slot: images[image].record.inactive)
  }

  /// Returns the location of the slot with this number; `nil` if there is no such slot. Slots are
  /// numbered consecutively over all images. The first slot of each image is the running slot,
  /// unless slot numbers denote positions in flash.
  func place(ofSlot number: Int) -> SlotPlace? {
    guard (0..<Self.slotsPerImage * images.count).contains(number) else { return nil }
    let (image, slot) = number.quotientAndRemainder(dividingBy: Self.slotsPerImage)
    if settings.mode.hasFixedSlots { return SlotPlace(image: image, slot: slot) }
    return slot == 0 ? active(image) : inactive(image)
  }

  // MARK: The list

  /// The list of images. The list of a server with one image contains no image numbers.
  var imageState: SMPImage.State {
    // The second slot of a device with a firmware loader contains the loader.
    let count = settings.mode == .firmwareLoader ? 1 : Self.slotsPerImage * images.count
    let slots = (0..<count).compactMap { number -> SMPImage.Slot? in
      guard let place = place(ofSlot: number), let image = image(in: place) else { return nil }
      var reported = (version: image.version.description, hash: hash(of: image, in: place))
      if place == active(place.image) {
        reported = misbehavior.altered(version: reported.version, hash: reported.hash)
      }
      return SMPImage.Slot(
        image: images.count > 1 ? place.image : nil, slot: number % Self.slotsPerImage,
        version: reported.version, hash: reported.hash, flags: flags(of: place, image))
    }
    guard settings.mode == .firmwareLoader else {
      return SMPImage.State(slots: slots, splitStatus: 0)
    }
    return SMPImage.State(slots: slots + [loaderSlot], splitStatus: 0)
  }

  /// The list entry of the firmware loader in the second slot. No upload writes this slot: the
  /// factory or an installer has written the loader.
  private var loaderSlot: SMPImage.Slot {
    let installed = image(in: SlotPlace(image: 0, slot: 1))
    return SMPImage.Slot(
      image: nil, slot: 1, version: installed?.version.description ?? "1.0.0",
      hash: installed?.hash ?? [UInt8](repeating: 0x1D, count: 32),
      flags: isLoader ? [.bootable, .active] : .bootable)
  }

  /// Returns the reported hash of an image. After decompression the slot contains the hash of the
  /// decompressed image.
  private func hash(of image: BootableImage, in place: SlotPlace) -> [UInt8] {
    guard settings.decompresses, place == active(place.image) else { return image.hash }
    return image.decompressedHash ?? image.hash
  }

  private func flags(of place: SlotPlace, _ image: BootableImage) -> SMPImage.Slot.Flags {
    let record = images[place.image].record
    var flags: SMPImage.Slot.Flags = image.isBootable ? .bootable : []
    if place == active(place.image) {
      if !isRecovery { flags.insert(.active) }
      if !record.isOnTrial { flags.insert(.confirmed) }
      return flags
    }
    // An image that runs after the next reset counts as confirmed.
    if record.isOnTrial { flags.insert(.confirmed) }
    if record.isPending { flags.insert(.pending) }
    if record.isPermanent { flags.insert(.permanent) }
    if settings.mode.choosesByVersion, let running = self.image(in: active(place.image)),
      image.version > running.version
    {
      flags.insert(.pending)
    }
    return flags
  }

  var slotInformation: SMPImage.SlotInfo.Response {
    let entries = images.indices.map { index in
      let slots = (0..<Self.slotsPerImage).map { slot in
        let place = place(ofSlot: Self.slotsPerImage * index + slot)
        return SMPImage.SlotInfo.Slot(
          slot: slot, size: parts.settings.slotSize,
          uploadImage: place == active(index) ? nil : index)
      }
      return SMPImage.SlotInfo.Image(image: index, slots: slots, largestImage: imageMaximum)
    }
    return SMPImage.SlotInfo.Response(images: entries)
  }

  // MARK: The next image

  func setImageState(_ request: SMPImage.WriteState) throws(SMPServerRefusal) -> Work {
    // Zephyr builds for RAM load exclude the command. The firmware loader has no other image to
    // choose.
    guard settings.mode != .ramLoad, settings.mode != .firmwareLoader else {
      throw .general(.notSupported)
    }
    let place = try place(of: request)
    let image = images[place.image]
    var next = image.record
    if place == active(place.image) {
      guard request.isConfirmed else { throw .image(.testOfActiveDenied) }
      guard place.image == 0 || settings.confirmsOtherImages else {
        throw .image(.confirmationDenied)
      }
      // A server of 2021 also reports success for a confirmation that it ignores because another
      // image is pending.
      if !(is2021 && next.isPending) { next.isOnTrial = false }
    } else if !settings.mode.choosesByVersion {
      // During a trial, the next reset starts the previous image: no other image can be marked.
      guard !next.isOnTrial else { throw .image(.alreadyPending) }
      next.isPending = true
      next.isPermanent = request.isConfirmed || !settings.mode.reverts
      if settings.networkCore == .nrf5340, place.image == 1, images[0].record.isPending {
        next.isSkipped = true
      }
    }
    guard next != image.record else {
      return Work(answer: .imageState(next, image: place.image))
    }
    next.sequence += 1
    return Work(
      operations: image.loader.operations(storing: next),
      answer: .imageState(next, image: place.image))
  }

  private func place(of request: SMPImage.WriteState) throws(SMPServerRefusal) -> SlotPlace {
    guard let hash = request.hash else {
      guard request.isConfirmed else { throw .image(.invalidHash) }
      return active(0)
    }
    guard hash.count == 32 else { throw .image(.invalidHash) }
    let places = images.indices.flatMap { image in
      (0..<Self.slotsPerImage).map { SlotPlace(image: image, slot: $0) }
    }
    let found = places.first { place in
      image(in: place).map { self.hash(of: $0, in: place) } == hash
    }
    guard let place = found else {
      throw .image(.hashNotFound)
    }
    return place
  }
}
