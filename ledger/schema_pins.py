"""SHA-256 of every schema file, written by `tests/tools/pin_schemas.py`; a test compares them."""

from __future__ import annotations

PINS = {
    "common.json": "b35ba0f8052dddd0352ef186d36b88f66173d70cc63b3f8b0a7fd5b165a82b1d",
    "genesis.json": "20634b86e74c5c121a0889bd99c0a0a50bcde9771287c96708270d49497cd342",
    "keys.json": "b48e5ab820a5ee501a4e90fd0e7795ad525d0e59569fea895f15a03a760eeecc",
    "receipt.json": "0d8f08a83e895c826691686623ecee4a94a9ef95bb041f55ba088d3fc8f06e18",
    "round-input.json": "31cc530ca32ced172f8768a82d353a4dacde0cdd8e47a0471d14f319bdcdbbf6",
    "round.json": "88f9092b7bbd305f28be128e0da6416378b9d6edcba27c7169d786560150fe18",
}
