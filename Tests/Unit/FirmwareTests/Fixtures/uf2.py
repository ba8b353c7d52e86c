"""UF2 files created by uf2utils: an image in one piece, and two pieces with a gap."""
import pathlib
import sys

from uf2utils.file import UF2File

HERE = pathlib.Path(sys.argv[1])
NRF52840 = 0xADA52840


def write(name: str, pieces: list) -> None:
    file = UF2File(board_family=NRF52840, fill_gaps=False)
    for address, content in pieces:
        file.append_payload(content, start_offset=address, block_payload_size=256)
    file.to_file(str(HERE / "UF2" / name))


image = (HERE / "MCUboot/ed25519.bin").read_bytes()
write("ed25519.uf2", [(0x10000, image)])
write("gap.uf2", [(0x27000, bytes(range(256))), (0x27200, bytes(range(100)))])
