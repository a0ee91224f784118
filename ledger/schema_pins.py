"""SHA-256 of every schema file, written by `tests/tools/pin_schemas.py`; a test compares them."""

from __future__ import annotations

PINS = {
    "common.json": "b35ba0f8052dddd0352ef186d36b88f66173d70cc63b3f8b0a7fd5b165a82b1d",
    "genesis.json": "20634b86e74c5c121a0889bd99c0a0a50bcde9771287c96708270d49497cd342",
    "imported-input.json": "260345e2df0a3db0587530ff5c66875a4a79a3c78a74ad10aedaa94943c7d2af",
    "imported.json": "64f29fd0a45403d16795b48646c8f59ac3255e1100ea12c5afb9bf6f4d03ff1a",
    "keys.json": "b48e5ab820a5ee501a4e90fd0e7795ad525d0e59569fea895f15a03a760eeecc",
    "output/append.json": "95739636cb67acc8cad77527a3681bf42190ac723cd420d7d451abc0aa7eeabd",
    "output/attest.json": "ab72421dbec3a856a7f6569dabc920928ebc7946cebef1b475cd7c9095eb336d",
    "output/error.json": "838074cd7df6634975a50118617ef25b4f8e23c012757c32013b30f829856534",
    "output/export.json": "3664f848b06eff8d90750367391655cf64bcce64d99207aad506519eef1941ca",
    "output/init.json": "fd7d4f16e9e73ad48e3de040f9cb613ef190c9a9c5c1d1055c9052d9d39ebc22",
    "output/key.json": "9fa4578831417217eec896f287dcd58d11faf5e39249a0423fe332c7f3df6466",
    "output/log.json": "4d258e50841f3ca1e42ea0a60273d8a7c9e23bb2a904be9b3b14ca72c67e0bd1",
    "output/show.json": "2a37bcd9413b9c07df73d151edb6730662575bcbcf08d5aa0b9767f40f1b525f",
    "output/verify.json": "fc2ef26d31f7d39a532b38edc7dcbfacdd285099ee2100a19863c91687ae68b5",
    "receipt.json": "0d8f08a83e895c826691686623ecee4a94a9ef95bb041f55ba088d3fc8f06e18",
    "rescore.json": "7f8e2423d9206fa6e6871e8fbe84d08d75e6ef3c3f1c12ad3b624e23ace75138",
    "round-input.json": "31cc530ca32ced172f8768a82d353a4dacde0cdd8e47a0471d14f319bdcdbbf6",
    "round.json": "88f9092b7bbd305f28be128e0da6416378b9d6edcba27c7169d786560150fe18",
    "rule-input.json": "fe7c94360916b13bb14c1dd1e5a1d0c99dcd63362a1ff0c563cd138f3718f054",
    "rule.json": "3395a90e90d621915f9939c93ff130f464acadc944021f0599529295fc59038e",
    "ruling.json": "d0e6125483873ed98975733f0e7e22d70abc3522aa7b2107a356cb4117243cb3",
}
