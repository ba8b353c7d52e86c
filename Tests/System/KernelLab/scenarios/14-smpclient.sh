# PyPI's smpclient, on its Bumble transport, updates the simulated device with MCUboot: upload, trial, revert,
# trial again, confirmation. Every line of its output is an expectation.
# limit: 200
. "$LAB/guest/expect.sh"
bootable image-3 1.3.0 60000
device_up --profile 'smp?erase=0&write=0' --name mcuboot-board
hciconfig hci0 down
within 10 bash -c 'hciconfig hci0 | grep -q DOWN'
expect 0 timeout 200 "$BUMBLE" "$LAB/peers/smp_client.py" hci-socket:0 mcuboot-board image-3
says '^ok the complete image is held$'
says '^ok it runs on trial$'
says '^ok reverted$'
says '^ok it is permanent$'
flash_holds image-3
figure "$(sed -n 's/^ok \([0-9]* requests\)$/\1/p' out)"

echo "== and otaflash finds the result"
within 8 hciconfig hci0 up
expect 0 otaflash slots list -d "$DEVICE_ADDRESS"
says '1\.3\.0 +runs, confirmed'
