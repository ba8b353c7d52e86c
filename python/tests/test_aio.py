"""The coroutines of the package."""
import asyncio

import pytest

import otaflash


def test_two_boards_are_updated_at_the_same_time(otaflash_board, image):
    boards = [f"{otaflash_board}?seed={seed}" for seed in (1, 2)]

    async def update():
        return await asyncio.gather(*(otaflash.aio.flash(image, board) for board in boards))

    assert [result.verified for result in asyncio.run(update())] == [True, True]


def test_the_functions_return_the_same_values(otaflash_board, image):
    async def both():
        return (await otaflash.aio.inspect_image(image), await otaflash.aio.scan(1.0, adapter="sim:4"),
                await otaflash.aio.inspect(otaflash_board, image))

    images, devices, report = asyncio.run(both())
    assert images == otaflash.inspect_image(image)
    assert len(devices) >= 4
    assert report.forecasts == ("would-flash",)


def test_an_error_is_raised(otaflash_board, image, older):
    async def downgrade():
        await otaflash.aio.flash(image, otaflash_board)
        await otaflash.aio.flash(older, otaflash_board)

    with pytest.raises(otaflash.errors.Downgrade):
        asyncio.run(downgrade())


@pytest.mark.otaflash_board("plain?erase=30ms&write=15ms")
def test_a_cancelled_update_resumes(otaflash_board, image):
    async def cancel():
        half = asyncio.Event()
        task = asyncio.ensure_future(otaflash.aio.flash(
            image, otaflash_board, arguments=["--delta=never"],
            on_progress=lambda p: half.set() if p.done > p.total // 2 else None))
        await asyncio.wait_for(half.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await otaflash.aio.flash(image, otaflash_board, arguments=["--delta=never"])

    result = asyncio.run(cancel())
    assert result.verified
    assert any(e["type"] == "task_begin" and e.get("offset", 0) > 0 for e in result.events)
