# info and flash against our own peripheral, with and without response, at every MTU that matters.
# limit: 240
. "$LAB/guest/expect.sh"
readonly OCTETS=12000
device_up --profile fast

expect 0 otaflash info -d "$DEVICE_ADDRESS"
says 'running +1\.2\.0'
says '2f3e0004-21b4-4807-8bdc-74db56699529'

minor=3
# Under emulation a run takes 8 s, so not every MTU is met in both modes.
for run in 23/with-response 23/without-response 185/without-response 247/with-response \
  247/without-response 512/without-response 517/with-response; do
  mtu=${run%/*}
  mode=${run#*/}
  image "image-$minor" "$((OCTETS + minor))"
  expect 0 otaflash flash "image-$minor" --image-version "1.$minor.0" --allow-unknown \
    -d "$DEVICE_ADDRESS" --mtu "$mtu" --mode "$mode"
  says "MTU $mtu"
  says "running 1\.$minor\.0, verified"
  flash_holds "image-$minor"
  minor=$((minor + 1))
done
