# A host on Bumble, written only from docs/ota-service.md, updates the simulated device: its own MTU
# exchange, discovery, subscriptions, prepared writes. Every line of its output is an expectation.
# limit: 240
. "$LAB/guest/expect.sh"
device_up --profile fast
hciconfig hci0 down
within 10 bash -c 'hciconfig hci0 | grep -q DOWN'
expect 0 timeout 150 "$BUMBLE" "$LAB/peers/ota_client.py" hci-socket:0 "$DEVICE_ADDRESS"
says '^ok the smaller MTU holds$'
says '^ok written as one$'
says '^ok busy until it is confirmed$'
says '^ok the new image runs, activated$'

echo "== and otaflash finds the result"
within 8 hciconfig hci0 up
expect 0 otaflash info -d "$DEVICE_ADDRESS"
says 'running +7\.1\.0$'
