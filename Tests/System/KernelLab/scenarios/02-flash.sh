# info, and flash at every relevant MTU with and without response, with otaflash's own peripheral.
# limit: 240
. "$LAB/guest/expect.sh"
# The image covers two pages of flash and a part of a third.
readonly BYTES=9000
device_up --profile fast

expect 0 otaflash info -d "$DEVICE_ADDRESS"
says 'running +1\.2\.0'
says '2f3e0004-21b4-4807-8bdc-74db56699529'

minor=3
for mtu in 23 185 247 512 517; do
  for mode in with-response without-response; do
    # The content differs each time, so that the flash content of the previous run cannot pass the
    # check.
    image "image-$minor" "$((BYTES + minor))"
    expect 0 otaflash flash "image-$minor" --image-version "1.$minor.0" --allow-unknown \
      -d "$DEVICE_ADDRESS" --mtu "$mtu" --mode "$mode"
    says "MTU $mtu"
    says "running 1\.$minor\.0, verified"
    flash_holds "image-$minor"
    minor=$((minor + 1))
  done
done
figure "$((minor - 3)) updates"
