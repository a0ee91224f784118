"""The table of tampered ledgers: each case takes a healthy one and makes exactly one defect.

The ledger is the one of `tests.support.ledgers.build_ledger`: 10 receipts, 0 to 9. A case says what verification must
find: class, code and index. What it finds first is compared, unless a case says that a consequence comes before it.

Two groups differ in what the attacker holds. Without the ledger's key he edits files; then the quick mode must notice
too, and the writer must refuse to go on. With it (`sealed`) he chains the receipts anew and signs a fresh checkpoint,
so only the statements themselves, or what the auditor knows from elsewhere, can give him away.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.canonical import MAX_BYTES
from ledger.checkpoint import Checkpoint, format_body, parse_checkpoint, sign_checkpoint
from ledger.dsse import Signature
from ledger.merkle import Tree
from ledger.note import encode_note, sign_note
from ledger.receipt import file_digest
from ledger.statement import Basis, Producer, sign_statement
from ledger.strict import b64encode
from tests.support.attacker import Forgery, chain_anew, commit
from tests.support.files import (
    changed,
    checkpoint_path,
    edit_checkpoint,
    edit_receipt,
    flip_bit,
    read_receipts,
    receipt_path,
    swap_text,
    write_receipts,
)
from tests.support.ledgers import (
    CONTRIBUTOR,
    LEDGER,
    MAINTAINERS,
    NOTE_KEY,
    ORIGIN,
    OUTSIDER,
    REVOKED,
    ROOT,
    SCORER_1,
    SCORER_2,
    SIZE,
    genesis_body,
    grant,
    make_key,
    revoke,
)
from tests.support.rounds import round_body, sha256_hex, stream_round_body

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ledger.canonical import JsonObject

MIDDLE, LAST, NEXT = 5, SIZE - 1, SIZE
OTHER_LEDGER = make_key("other ledger")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the auditor knows from elsewhere."""

    vkey: str = ""
    genesis: str = ""
    since: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One tampered ledger.

    Attributes:
        name: what was done.
        make: does it to the ledger in a folder, and says what the auditor knows.
        error: class of the finding.
        code: code of the finding.
        index: receipt that the finding names; none for the ledger as a whole.
        first: the finding comes first; otherwise it is there, behind another.
        sealed: it takes the ledger's key.
    """

    name: str
    make: Callable[[Path], Known | None]
    error: str
    code: str
    index: int | None
    first: bool
    sealed: bool


CASES: list[Case] = []


def _case(
    error: str, code: str, index: int | None, *, first: bool = True, sealed: bool = False
) -> Callable[[Callable[[Path], Known | None]], None]:
    """Put a function into the table."""

    def register(make: Callable[[Path], Known | None]) -> None:
        name = make.__name__.strip("_")
        CASES.append(Case(name=name, make=make, error=error, code=code, index=index, first=first, sealed=sealed))

    return register


# ---- One receipt edited, without any key.


@_case("SignatureError", "E_SIGNATURE", MIDDLE)
def _one_bit_of_a_raw_sample(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"wall_ns":[1000000]', '"wall_ns":[1000001]'))


@_case("SignatureError", "E_SIGNATURE", MIDDLE)
def _one_bit_of_a_measured_code(folder: Path) -> None:
    code = sha256_hex("code of round-5")
    edit_receipt(folder, MIDDLE, swap_text(code, f"{int(code[0], 16) ^ 1:x}{code[1:]}"))


@_case("SignatureError", "E_SIGNATURE", LAST)
def _one_bit_of_the_last_statement(folder: Path) -> None:
    edit_receipt(folder, LAST, swap_text('"wall_ns":[1000000]', '"wall_ns":[1000001]'))


def _edit_signature(raw: bytes) -> bytes:
    at = raw.index(b'"sig":"') + len(b'"sig":"')
    return raw[:at] + (b"B" if raw[at : at + 1] == b"A" else b"A") + raw[at + 1 :]


@_case("SignatureError", "E_SIGNATURE", MIDDLE)
def _one_letter_of_a_signature(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, _edit_signature)


@_case("SignatureError", "E_SIGNATURE", LAST)
def _one_letter_of_the_last_signature(folder: Path) -> None:
    edit_receipt(folder, LAST, _edit_signature)


@_case("SignatureError", "E_SIGNATURE", 0)
def _one_letter_of_the_signature_of_the_genesis(folder: Path) -> None:
    edit_receipt(folder, 0, _edit_signature)


@_case("MalformedError", "E_BASE64", MIDDLE)
def _a_signature_that_is_not_base64(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"sig":"', '"sig":"!'))


@_case("MalformedError", "E_BASE64", MIDDLE)
def _a_signature_with_other_padding_bits(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda raw: raw.replace(b'=="}]', b'="}]', 1))


@_case("MalformedError", "E_RECEIPT", MIDDLE)
def _a_receipt_without_a_signature(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda raw: raw[: raw.index(b'[{"keyid"')] + b"[]" + raw[raw.index(b',"statement"') :])


@_case("RefusedError", "E_KEY_UNKNOWN", MIDDLE)
def _the_key_id_of_a_stranger(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text(REVOKED.public.keyid, OUTSIDER.public.keyid))


@_case("SignatureError", "E_SIGNATURE", MIDDLE)
def _the_key_id_of_another_scorer(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text(REVOKED.public.keyid, SCORER_1.public.keyid))


@_case("MalformedError", "E_KEYID", MIDDLE)
def _a_key_id_of_another_kind(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text("SHA256:", "SHA257:"))


@_case("ChainError", "E_INDEX", MIDDLE)
def _an_index_that_is_not_the_position(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"index":5', '"index":6'))


@_case("MalformedError", "E_RECEIPT", MIDDLE)
def _an_index_that_is_a_fraction(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"index":5', '"index":5.0'))


@_case("MalformedError", "E_RECEIPT", MIDDLE)
def _an_index_below_zero(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"index":5', '"index":-5'))


@_case("ChainError", "E_CHAIN", MIDDLE)
def _one_digit_of_prev(folder: Path) -> None:
    prev = file_digest(read_receipts(folder)[MIDDLE - 1]).hex()
    edit_receipt(folder, MIDDLE, swap_text(prev, f"{int(prev[0], 16) ^ 1:x}{prev[1:]}"))


@_case("MalformedError", "E_DIGEST", MIDDLE)
def _prev_in_capital_letters(folder: Path) -> None:
    prev = file_digest(read_receipts(folder)[MIDDLE - 1]).hex()
    edit_receipt(folder, MIDDLE, swap_text(prev, prev.upper()))


@_case("ChainError", "E_CHAIN", 0)
def _a_genesis_that_follows_something(folder: Path) -> None:
    edit_receipt(folder, 0, swap_text('"prev":"0', '"prev":"1'))


@_case("ChainError", "E_CHAIN", MIDDLE + 1)
def _another_time_of_sealing(folder: Path) -> None:
    # Nothing but the seal of the receipt behind it holds the time.
    edit_receipt(folder, MIDDLE, swap_text("2026-11-29T20:", "2026-11-29T19:"))


@_case("RootMismatchError", "E_ROOT", LAST)
def _another_time_of_sealing_in_the_last_receipt(folder: Path) -> None:
    edit_receipt(folder, LAST, swap_text("2026-11-29T20:", "2026-11-29T21:"))


@_case("MalformedError", "E_TIME", MIDDLE)
def _a_time_of_sealing_without_its_zone(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('Z"},"signatures"', '"},"signatures"'))


@_case("MalformedError", "E_TIME", MIDDLE)
def _a_time_of_sealing_that_the_calendar_lacks(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text("2026-11-29T", "2026-11-31T"))


@_case("MalformedError", "E_RECEIPT", MIDDLE)
def _another_version_of_the_format(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"receipt":"v1"', '"receipt":"v2"'))


@_case("MalformedError", "E_RECEIPT", MIDDLE)
def _a_member_beside_the_seal(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('{"receipt"', '{"note":"hello","receipt"'))


@_case("MalformedError", "E_RECEIPT", MIDDLE)
def _a_member_in_the_seal(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('{"index":5', '{"height":5,"index":5'))


@_case("MalformedError", "E_RECEIPT", MIDDLE)
def _a_member_beside_a_signature(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('{"keyid"', '{"cert":"","keyid"'))


@_case("MalformedError", "E_STATEMENT", MIDDLE)
def _another_type_of_statement(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text("Statement/v1", "Statement/v0.1"))


@_case("SignatureError", "E_SIGNATURE", MIDDLE)
def _another_kind_of_statement(folder: Path) -> None:
    # Nobody may hide a round by calling it something that this release cannot judge.
    edit_receipt(folder, MIDDLE, swap_text("urn:rungbook:round:v1", "urn:rungbook:sound:v1"))


# ---- The genesis and the ledger's key.


@_case("SignatureError", "E_SIGNATURE", 0, first=False)  # the checkpoint is not by a key of that name
def _another_origin_in_the_genesis(folder: Path) -> None:
    edit_receipt(folder, 0, swap_text(ORIGIN, ORIGIN.replace("tests", "texts")))


@_case("SignatureError", "E_NOTE_UNSIGNED", None)
def _another_ledger_key_in_the_genesis(folder: Path) -> None:
    edit_receipt(folder, 0, swap_text(LEDGER.public.openssh, OTHER_LEDGER.public.openssh))


@_case("SignatureError", "E_SIGNATURE", 0)
def _another_maintainer_in_the_genesis(folder: Path) -> None:
    edit_receipt(folder, 0, swap_text(MAINTAINERS[0].public.openssh, OUTSIDER.public.openssh))


# ---- Receipts that are gone, moved, doubled or foreign.


@_case("ChainError", "E_RECEIPT_MISSING", MIDDLE)
def _a_receipt_removed_in_the_middle(folder: Path) -> None:
    receipt_path(folder, MIDDLE).unlink()


@_case("ChainError", "E_RECEIPT_MISSING", LAST)
def _the_last_receipt_removed(folder: Path) -> None:
    receipt_path(folder, LAST).unlink()


@_case("ChainError", "E_RECEIPT_MISSING", LAST - 2)
def _the_last_three_receipts_removed(folder: Path) -> None:
    write_receipts(folder, read_receipts(folder)[: LAST - 2])


@_case("ChainError", "E_RECEIPT_MISSING", LAST - 1, first=False)  # the first one is missing too
def _two_receipts_removed_apart(folder: Path) -> None:
    receipt_path(folder, 2).unlink()
    receipt_path(folder, LAST - 1).unlink()


@_case("ChainError", "E_RECEIPT_MISSING", 0, first=False)  # without it there is no key for the checkpoint
def _the_genesis_removed(folder: Path) -> None:
    receipt_path(folder, 0).unlink()


@_case("ChainError", "E_RECEIPT_MISSING", 0, first=False)  # without the genesis there is no key
def _all_receipts_removed(folder: Path) -> None:
    shutil.rmtree(folder / "receipts" / "000")


@_case("ChainError", "E_RECEIPT_MISSING", 0)
def _all_receipts_removed_and_the_key_is_known(folder: Path) -> Known:
    shutil.rmtree(folder / "receipts" / "000")
    return Known(vkey=NOTE_KEY.vkey)


@_case("ChainError", "E_INDEX", MIDDLE)
def _a_receipt_removed_and_the_rest_moved_up(folder: Path) -> None:
    files = read_receipts(folder)
    write_receipts(folder, files[:MIDDLE] + files[MIDDLE + 1 :])


@_case("VerificationError", "E_CHECKPOINT_MISSING", None)
def _the_checkpoint_removed(folder: Path) -> None:
    checkpoint_path(folder).unlink()


@_case("ChainError", "E_INDEX", MIDDLE)
def _two_receipts_swapped(folder: Path) -> None:
    files = read_receipts(folder)
    files[MIDDLE], files[MIDDLE + 1] = files[MIDDLE + 1], files[MIDDLE]
    write_receipts(folder, files)


@_case("RefusedError", "E_BASIS", LAST - 1)
def _the_last_two_statements_swapped_and_chained(folder: Path) -> None:
    forgery = Forgery.of(folder)
    forgery.signed[LAST - 1 :] = reversed(forgery.signed[LAST - 1 :])
    write_receipts(folder, forgery.files())


@_case("ChainError", "E_INDEX", MIDDLE + 1)
def _a_receipt_put_over_the_next(folder: Path) -> None:
    files = read_receipts(folder)
    files[MIDDLE + 1] = files[MIDDLE]
    write_receipts(folder, files)


@_case("ChainError", "E_INDEX", MIDDLE + 1)
def _a_receipt_put_in_twice(folder: Path) -> None:
    files = read_receipts(folder)
    write_receipts(folder, [*files[: MIDDLE + 1], *files[MIDDLE:]])


def _foreign_files(folder: Path) -> list[bytes]:
    """The same history in the ledger of somebody else: other ledger key, other scorer, other codes."""
    forgery = Forgery.of(folder)
    body = genesis_body(maintainers=MAINTAINERS, threshold=2) | {"ledger_key": OTHER_LEDGER.public.openssh}
    foreign = Forgery(folder, [], [])
    foreign.add(foreign.state("genesis", body, ROOT), at=forgery.times[0])
    foreign.add(
        foreign.state("keys", {"changes": [grant(OUTSIDER.public, "n1")]}, *MAINTAINERS[:2]), at=forgery.times[1]
    )
    for index in range(2, SIZE):
        foreign.add(foreign.state("round", round_body(f"foreign-{index}"), OUTSIDER), at=forgery.times[index])
    return foreign.files()


@_case("ChainError", "E_CHAIN", MIDDLE)
def _a_receipt_of_another_ledger(folder: Path) -> None:
    files = read_receipts(folder)
    files[MIDDLE] = _foreign_files(folder)[MIDDLE]
    write_receipts(folder, files)


@_case("RefusedError", "E_KEY_UNKNOWN", MIDDLE)
def _a_receipt_of_another_ledger_chained(folder: Path) -> None:
    files = read_receipts(folder)
    files[MIDDLE] = _foreign_files(folder)[MIDDLE]
    write_receipts(folder, chain_anew(files))


@_case("VerificationError", "E_PIN_VKEY", 0, sealed=True)
def _the_whole_ledger_of_somebody_else_and_the_key_is_known(folder: Path) -> Known:
    commit(folder, _foreign_files(folder), key=OTHER_LEDGER)
    return Known(vkey=NOTE_KEY.vkey)


@_case("VerificationError", "E_PIN_GENESIS", 0, sealed=True)
def _the_whole_ledger_of_somebody_else_and_the_genesis_is_known(folder: Path) -> Known:
    pinned = file_digest(read_receipts(folder)[0]).hex()
    commit(folder, _foreign_files(folder), key=OTHER_LEDGER)
    return Known(genesis=pinned)


@_case("VerificationError", "E_PIN_GENESIS", 0, sealed=True)
def _a_new_genesis_by_the_same_ledger_key(folder: Path) -> Known:
    pinned = file_digest(read_receipts(folder)[0]).hex()
    forgery = Forgery(folder, [], [])
    body = genesis_body(maintainers=[OUTSIDER], roots=[OUTSIDER])
    forgery.add(forgery.state("genesis", body, OUTSIDER))
    forgery.seal()
    return Known(genesis=pinned)


# ---- The bytes of a file: what editors, version control and file systems do to it.


def _cut(at: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        edit_receipt(folder, MIDDLE, lambda raw: raw[:at])

    make.__name__ = f"a_receipt_cut_after_{at}_bytes" if at >= 0 else f"a_receipt_cut_{-at}_bytes_before_its_end"
    return make


for _at in (1, 40, 500, -2, -1):
    _case("MalformedError", "E_RECEIPT", MIDDLE)(_cut(_at))


@_case("MalformedError", "E_RECEIPT", MIDDLE)
def _an_empty_file(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda _: b"")


@_case("MalformedError", "E_JSON", MIDDLE)
def _a_file_of_one_newline(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda _: b"\n")


@_case("MalformedError", "E_RECEIPT", 0)
def _a_genesis_cut_in_half_and_the_key_is_known(folder: Path) -> Known:
    edit_receipt(folder, 0, lambda raw: raw[: len(raw) // 2])
    return Known(vkey=NOTE_KEY.vkey)


@_case("VerificationError", "E_LEDGER_KEY", None)
def _a_genesis_cut_in_half(folder: Path) -> None:
    edit_receipt(folder, 0, lambda raw: raw[: len(raw) // 2])


@_case("MalformedError", "E_CANONICAL", MIDDLE)
def _two_newlines_at_the_end(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda raw: raw + b"\n")


@_case("MalformedError", "E_CANONICAL", MIDDLE)
def _the_line_end_of_another_system(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda raw: raw[:-1] + b"\r\n")


@_case("MalformedError", "E_NOTE", None)
def _the_line_ends_of_another_system_everywhere(folder: Path) -> None:
    for index in range(SIZE):
        edit_receipt(folder, index, lambda raw: raw[:-1] + b"\r\n")
    edit_checkpoint(folder, lambda raw: raw.replace(b"\n", b"\r\n"))


@_case("MalformedError", "E_JSON", MIDDLE)
def _a_byte_order_mark(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda raw: b"\xef\xbb\xbf" + raw)


@_case("MalformedError", "E_CANONICAL", MIDDLE)
def _white_space(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"receipt":', '"receipt": '))


@_case("MalformedError", "E_CANONICAL", MIDDLE)
def _another_order_of_members(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"os":"x","cpu":"one"'))


@_case("MalformedError", "E_CANONICAL", MIDDLE)
def _a_member_twice(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"cpu":"one","cpu":"one"'))


@_case("MalformedError", "E_JSON", MIDDLE)
def _something_that_is_not_a_number(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"wall_ns":1000000', '"wall_ns":NaN'))


@_case("MalformedError", "E_CANONICAL", MIDDLE)
def _a_number_in_another_notation(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"wall_ns":1000000', '"wall_ns":1e6'))


@_case("MalformedError", "E_DOMAIN", MIDDLE)
def _an_integer_that_other_readers_round(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"wall_ns":1000000', '"wall_ns":9007199254740993'))


@_case("MalformedError", "E_DOMAIN", MIDDLE)
def _a_member_name_outside_ascii(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"cpu":"one","prozeß":"x"'))


@_case("MalformedError", "E_DOMAIN", MIDDLE)
def _an_escape_that_moves_the_cursor(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"cpu":"\\u001b[1A"'))


@_case("MalformedError", "E_DOMAIN", MIDDLE)
def _a_control_character_of_the_second_block(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"cpu":"\u0085"'))


@_case("MalformedError", "E_CANONICAL", MIDDLE)
def _an_escaped_slash(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text("https://in-toto.io", "https:\\/\\/in-toto.io"))


@_case("MalformedError", "E_CANONICAL", MIDDLE)
def _an_escaped_letter(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"cpu":"on\\u0065"'))


@_case("MalformedError", "E_JSON", MIDDLE)
def _half_a_surrogate_pair(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"cpu":"\\ud800"'))


@_case("MalformedError", "E_JSON", MIDDLE)
def _bytes_that_are_not_utf8(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda raw: raw.replace(b'"cpu":"one"', b'"cpu":"\xff\xfe"'))


@_case("MalformedError", "E_DOMAIN", MIDDLE)
def _lists_in_lists_300_deep(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"cpu":' + "[" * 300 + "]" * 300))


@_case("MalformedError", "E_JSON", MIDDLE)
def _lists_in_lists_100000_deep(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, swap_text('"cpu":"one"', '"cpu":' + "[" * 100_000 + "]" * 100_000))


@_case("MalformedError", "E_SIZE", MIDDLE)
def _a_file_over_the_limit(folder: Path) -> None:
    with receipt_path(folder, MIDDLE).open("r+b") as file:
        file.truncate(MAX_BYTES + 1)  # a hole: it takes no room on the disk


@_case("MalformedError", "E_JSON", MIDDLE)
def _the_marks_of_a_merge_conflict(folder: Path) -> None:
    edit_receipt(folder, MIDDLE, lambda raw: b"<<<<<<< HEAD\n" + raw + b"=======\n" + raw + b">>>>>>> theirs\n")


@_case("MalformedError", "E_JSON", MIDDLE)
def _a_pointer_to_large_file_storage(folder: Path) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 45810\n"
    edit_receipt(folder, MIDDLE, lambda _: pointer.encode())


@_case("MalformedError", "E_NOTE", None)
def _the_marks_of_a_merge_conflict_in_the_checkpoint(folder: Path) -> None:
    edit_checkpoint(folder, lambda raw: b"<<<<<<< HEAD\n" + raw + b"=======\n" + raw + b">>>>>>> theirs\n")


# ---- The checkpoint.


@_case("SignatureError", "E_NOTE_SIGNATURE", None)
def _one_bit_of_the_origin_line(folder: Path) -> None:
    edit_checkpoint(folder, lambda raw: flip_bit(raw, 0))


@_case("SignatureError", "E_NOTE_SIGNATURE", None)
def _one_bit_of_the_size_line(folder: Path) -> None:
    edit_checkpoint(folder, swap_text("\n10\n", "\n11\n"))


@_case("SignatureError", "E_NOTE_SIGNATURE", None)
def _one_letter_of_the_root_line(folder: Path) -> None:
    def edit(raw: bytes) -> bytes:
        at = raw.index(b"\n10\n") + 4
        return raw[:at] + (b"B" if raw[at : at + 1] == b"A" else b"A") + raw[at + 1 :]

    edit_checkpoint(folder, edit)


@_case("MalformedError", "E_NOTE", None)
def _the_empty_line_removed(folder: Path) -> None:
    edit_checkpoint(folder, swap_text("\n\n", "\n"))


@_case("SignatureError", "E_NOTE_UNSIGNED", None)
def _one_bit_of_the_name_of_the_signer(folder: Path) -> None:
    edit_checkpoint(folder, lambda raw: flip_bit(raw, raw.index(b"\xe2\x80\x94 ") + 4))


@_case("SignatureError", "E_NOTE_UNSIGNED", None)
def _one_letter_of_the_key_hash(folder: Path) -> None:
    def edit(raw: bytes) -> bytes:
        at = raw.rindex(b" ") + 1
        return raw[:at] + (b"B" if raw[at : at + 1] == b"A" else b"A") + raw[at + 1 :]

    edit_checkpoint(folder, edit)


@_case("SignatureError", "E_NOTE_SIGNATURE", None)
def _one_letter_of_the_signature_of_the_checkpoint(folder: Path) -> None:
    def edit(raw: bytes) -> bytes:
        at = raw.rindex(b" ") + 20
        return raw[:at] + (b"B" if raw[at : at + 1] == b"A" else b"A") + raw[at + 1 :]

    edit_checkpoint(folder, edit)


@_case("MalformedError", "E_NOTE", None)
def _an_unsigned_checkpoint(folder: Path) -> None:
    edit_checkpoint(folder, lambda raw: raw.partition(b"\n\n")[0] + b"\n\n")


@_case("MalformedError", "E_NOTE", None)
def _the_signature_of_the_checkpoint_twice(folder: Path) -> None:
    edit_checkpoint(folder, lambda raw: raw + raw.partition(b"\n\n")[2])


@_case("MalformedError", "E_NOTE", None)
def _an_empty_checkpoint(folder: Path) -> None:
    edit_checkpoint(folder, lambda _: b"")


@_case("MalformedError", "E_NOTE", None)
def _a_checkpoint_cut_in_half(folder: Path) -> None:
    edit_checkpoint(folder, lambda raw: raw[: len(raw) // 2])


@_case("MalformedError", "E_NOTE", None)
def _a_checkpoint_over_the_limit(folder: Path) -> None:
    with checkpoint_path(folder).open("r+b") as file:
        file.truncate(1 << 40)  # a hole: whoever reads it whole never comes back


@_case("SignatureError", "E_NOTE_UNSIGNED", None)
def _a_checkpoint_by_another_key(folder: Path) -> None:
    checkpoint = parse_checkpoint(checkpoint_path(folder).read_bytes())
    edit_checkpoint(folder, lambda _: sign_checkpoint(checkpoint, OTHER_LEDGER))


@_case("SignatureError", "E_NOTE_SIGNATURE", None)
def _a_checkpoint_by_another_key_with_the_hash_of_the_right_one(folder: Path) -> None:
    checkpoint = parse_checkpoint(checkpoint_path(folder).read_bytes())
    note = sign_note(format_body(checkpoint), ORIGIN, OTHER_LEDGER)
    line = replace(note.signatures[0], key_hash=NOTE_KEY.key_hash)
    edit_checkpoint(folder, lambda _: encode_note(replace(note, signatures=(line,))))


@_case("RootMismatchError", "E_ROOT", LAST)
def _all_chained_anew_behind_another_time_of_sealing(folder: Path) -> None:
    # No producer signs the times, so only the root gives it away. The last receipt is one of those that differ.
    forgery = Forgery.of(folder)
    forgery.times[LAST] = "2026-11-30T00:00:00Z"
    write_receipts(folder, forgery.files())


def _sign_text(text: str) -> bytes:
    return encode_note(sign_note(text, ORIGIN, LEDGER))


def _sign_body(folder: Path, *, size: str = "", root: str = "", more: str = "") -> None:
    origin, old_size, old_root = checkpoint_path(folder).read_bytes().decode().split("\n")[:3]
    edit_checkpoint(folder, lambda _: _sign_text(f"{origin}\n{size or old_size}\n{root or old_root}\n{more}"))


@_case("MalformedError", "E_CHECKPOINT", None, sealed=True)
def _an_extension_line(folder: Path) -> None:
    _sign_body(folder, more="note nobody reads this\n")


@_case("MalformedError", "E_INTEGER", None, sealed=True)
def _a_size_with_a_leading_zero(folder: Path) -> None:
    _sign_body(folder, size="010")


@_case("MalformedError", "E_INTEGER", None, sealed=True)
def _a_size_with_a_sign(folder: Path) -> None:
    _sign_body(folder, size="+10")


@_case("MalformedError", "E_INTEGER", None, sealed=True)
def _a_size_in_digits_of_another_script(folder: Path) -> None:
    _sign_body(folder, size="\u0661\u0660")


@_case("MalformedError", "E_BASE64", None, sealed=True)
def _a_root_in_base64_with_other_padding_bits(folder: Path) -> None:
    root = checkpoint_path(folder).read_bytes().decode().split("\n")[2]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    _sign_body(folder, root=root[:42] + letters[letters.index(root[42]) ^ 1] + "=")


@_case("MalformedError", "E_BASE64", None, sealed=True)
def _a_root_of_31_bytes(folder: Path) -> None:
    _sign_body(folder, root=b64encode(bytes(31)))


@_case("RootMismatchError", "E_ROOT", LAST, sealed=True)
def _another_root_signed_by_the_ledger(folder: Path) -> None:
    _sign_body(folder, root=b64encode(bytes(32)))


@_case("ChainError", "E_RECEIPT_MISSING", NEXT, sealed=True)
def _a_size_of_more_receipts_than_there_are(folder: Path) -> None:
    _sign_body(folder, size=str(SIZE + 2))


@_case("ChainError", "E_RECEIPT_MISSING", NEXT, sealed=True)
def _a_size_of_more_receipts_than_can_be(folder: Path) -> None:
    _sign_body(folder, size="9999999999999999999")


@_case("SignatureError", "E_NOTE_UNSIGNED", None, sealed=True)
def _another_origin_under_the_same_key(folder: Path) -> None:
    old = parse_checkpoint(checkpoint_path(folder).read_bytes())
    checkpoint = Checkpoint(origin="ledger.example/other", size=old.size, root=old.root)
    edit_checkpoint(folder, lambda _: sign_checkpoint(checkpoint, LEDGER))


@_case("SignatureError", "E_ORIGIN", None, sealed=True)
def _another_origin_signed_under_the_old_name(folder: Path) -> None:
    edit_checkpoint(folder, lambda raw: _sign_text(raw.partition(b"\n\n")[0].decode().replace("tests", "texts") + "\n"))


# ---- An older state, or another history, against a checkpoint that the auditor has kept.


def _older(folder: Path, size: int) -> bytes:
    """The checkpoint that the ledger had at this size."""
    tree = Tree(file_digest(raw) for raw in read_receipts(folder)[:size])
    return sign_checkpoint(Checkpoint(origin=ORIGIN, size=size, root=tree.root()), LEDGER)


@_case("ChainError", "E_ROLLBACK", None, sealed=True)
def _an_older_checkpoint_with_the_newer_receipts_kept(folder: Path) -> Known:
    newer = checkpoint_path(folder).read_bytes()
    checkpoint_path(folder).write_bytes(changed(newer, _older(folder, 6)))
    return Known(since=newer)


@_case("ChainError", "E_ROLLBACK", None, sealed=True)
def _files_and_checkpoint_of_an_older_state(folder: Path) -> Known:
    newer = checkpoint_path(folder).read_bytes()
    commit(folder, read_receipts(folder)[:6])
    return Known(since=newer)


@_case("RootMismatchError", "E_FORK", None, sealed=True)
def _another_history_of_the_same_size(folder: Path) -> Known:
    known = checkpoint_path(folder).read_bytes()
    forgery = Forgery.of(folder)
    forgery.drop(LAST)
    forgery.add(forgery.state("round", round_body("instead", node="n2"), SCORER_2))
    forgery.seal()
    return Known(since=known)


@_case("RootMismatchError", "E_FORK", None, sealed=True)
def _another_history_that_is_longer(folder: Path) -> Known:
    known = checkpoint_path(folder).read_bytes()
    forgery = Forgery.of(folder)
    forgery.drop(LAST)
    for number in range(3):
        forgery.add(forgery.state("round", round_body(f"instead-{number}", node="n2"), SCORER_2))
    forgery.seal()
    return Known(since=known)


@_case("RootMismatchError", "E_FORK", None, sealed=True)
def _a_statement_dropped_in_secret(folder: Path) -> Known:
    # The operator drops the last round and goes on as if it had never been: only a kept checkpoint shows it.
    known = checkpoint_path(folder).read_bytes()
    forgery = Forgery.of(folder)
    forgery.drop(LAST)
    forgery.add(forgery.state("round", round_body("instead"), SCORER_1))
    forgery.seal()
    return Known(since=known)


@_case("SignatureError", "E_NOTE_UNSIGNED", None, sealed=True)
def _a_kept_checkpoint_of_another_ledger(folder: Path) -> Known:
    checkpoint = parse_checkpoint(checkpoint_path(folder).read_bytes())
    return Known(since=sign_checkpoint(checkpoint, OTHER_LEDGER))


# ---- The attacker holds the ledger's key, but not the producer's.


def _forge(
    error: str, code: str, index: int | None, *, first: bool = True
) -> Callable[[Callable[[Forgery], None]], None]:
    """Put a function into the table that changes statements; they are chained and committed afterwards."""

    def register(change: Callable[[Forgery], None]) -> None:
        def make(folder: Path) -> None:
            forgery = Forgery.of(folder)
            change(forgery)
            forgery.seal()

        make.__name__ = change.__name__
        _case(error, code, index, first=first, sealed=True)(make)

    return register


def _faster(value: JsonObject) -> None:
    value["predicate"]["round"]["reps"][0]["records"]["wall_ns"] = [999_999]


@_forge("SignatureError", "E_SIGNATURE", MIDDLE)
def _a_faster_time_in_a_sealed_round(forgery: Forgery) -> None:
    forgery.alter(MIDDLE, _faster)


@_forge("SignatureError", "E_SIGNATURE", LAST)
def _a_faster_time_in_the_last_round(forgery: Forgery) -> None:
    forgery.alter(LAST, _faster)


@_forge("SignatureError", "E_SIGNATURE", 1)
def _another_key_in_a_sealed_grant(forgery: Forgery) -> None:
    def edit(value: JsonObject) -> None:
        value["predicate"]["keys"]["changes"][0]["key"] = OUTSIDER.public.openssh

    forgery.alter(1, edit)


@_forge("SignatureError", "E_SIGNATURE", 8)
def _a_signature_of_another_statement(forgery: Forgery) -> None:
    forgery.signed[8] = replace(forgery.signed[8], signatures=forgery.signed[2].signatures)


_ORDER = 2**252 + 27742317777372353535851937790883648493


@_forge("SignatureError", "E_SIGNATURE", 8)
def _a_signature_with_the_group_order_added(forgery: Forgery) -> None:
    # Lenient libraries accept both; then one statement has two signatures.
    old = forgery.signed[8].signatures[0]
    scalar = int.from_bytes(old.sig[32:], "little") + _ORDER
    sig = old.sig[:32] + scalar.to_bytes(32, "little")
    forgery.signed[8] = replace(forgery.signed[8], signatures=(replace(old, sig=sig),))


@_forge("RefusedError", "E_BASIS", 3)
def _a_receipt_dropped_and_the_rest_chained_anew(forgery: Forgery) -> None:
    # Every later statement was made on a state that includes the dropped one.
    forgery.drop(3)


@_forge("RefusedError", "E_BASIS", 3)
def _another_time_in_an_early_seal(forgery: Forgery) -> None:
    # Receipt 3 was made on the state that ends with receipt 2 as it was.
    forgery.times[2] = "2026-11-29T19:00:00Z"


@_forge("RefusedError", "E_KEY_UNKNOWN", NEXT)
def _a_round_by_a_key_that_was_never_granted(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("next"), OUTSIDER))


@_forge("RefusedError", "E_KEY_UNKNOWN", NEXT)
def _a_round_by_the_key_of_the_ledger(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("next"), LEDGER))


@_forge("RefusedError", "E_KEY_REVOKED", NEXT)
def _a_round_by_a_revoked_key(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("next"), REVOKED))


@_forge("RefusedError", "E_KEY_REVOKED", NEXT)
def _a_round_by_a_revoked_key_on_a_state_before_its_revocation(forgery: Forgery) -> None:
    # What counts is the index at which it is sealed, never what the producer claims to have seen.
    forgery.add(forgery.state("round", round_body("next"), REVOKED, basis=forgery.basis(6)))


@_forge("RefusedError", "E_KEY_UNKNOWN", 4)
def _a_round_sealed_before_its_scorer_was_granted(forgery: Forgery) -> None:
    early = forgery.state("round", round_body("early"), REVOKED, basis=forgery.basis(4))
    forgery.signed.insert(4, early)
    forgery.times.insert(4, forgery.times[4])


@_forge("RefusedError", "E_NODE", NEXT)
def _a_round_by_a_scorer_of_another_node(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("next", node="n2"), SCORER_1))


@_forge("RefusedError", "E_ROLE", NEXT)
def _a_round_by_a_maintainer(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("next"), MAINTAINERS[0]))


@_forge("RefusedError", "E_ROLE", NEXT)
def _a_round_by_a_root_key(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("next"), ROOT))


@_forge("RefusedError", "E_ROLE", NEXT)
def _a_round_by_a_scorer_and_a_maintainer(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("next"), SCORER_1, MAINTAINERS[0]))


def _promote(*signers: int) -> Callable[[Forgery], None]:
    def change(forgery: Forgery) -> None:
        body = {"changes": [grant(OUTSIDER.public, role="maintainer")]}
        forgery.add(forgery.state("keys", body, *(MAINTAINERS[number] for number in signers)))

    return change


@_forge("RefusedError", "E_ROLE", NEXT)
def _a_change_of_roles_by_a_scorer(forgery: Forgery) -> None:
    forgery.add(forgery.state("keys", {"changes": [grant(OUTSIDER.public, "n1")]}, SCORER_1))


@_forge("RefusedError", "E_ROLE", NEXT)
def _a_change_of_roles_by_the_root_key(forgery: Forgery) -> None:
    forgery.add(forgery.state("keys", {"changes": [grant(OUTSIDER.public, "n1")]}, ROOT))


@_forge("RefusedError", "E_ROLE", NEXT)
def _a_change_of_roles_by_two_maintainers_and_a_scorer(forgery: Forgery) -> None:
    forgery.add(forgery.state("keys", {"changes": [grant(OUTSIDER.public, "n1")]}, *MAINTAINERS[:2], SCORER_1))


@_forge("RefusedError", "E_THRESHOLD", NEXT)
def _a_change_of_roles_by_too_few_maintainers(forgery: Forgery) -> None:
    _promote(0)(forgery)


@_forge("MalformedError", "E_SIGNATURE_ORDER", NEXT)
def _a_threshold_met_by_one_signature_twice(forgery: Forgery) -> None:
    _promote(0)(forgery)
    signed = forgery.signed[-1]
    forgery.signed[-1] = replace(signed, signatures=signed.signatures * 2)


@_forge("SignatureError", "E_SIGNATURE", NEXT)
def _a_threshold_met_by_one_key_under_the_name_of_another(forgery: Forgery) -> None:
    _promote(0)(forgery)
    signed = forgery.signed[-1]
    alias = Signature(keyid=MAINTAINERS[1].public.keyid, sig=signed.signatures[0].sig)
    both = sorted([*signed.signatures, alias], key=lambda item: item.keyid)
    forgery.signed[-1] = replace(signed, signatures=tuple(both))


@_forge("RefusedError", "E_KEY_UNKNOWN", NEXT)
def _a_threshold_met_by_one_key_under_a_name_of_nobody(forgery: Forgery) -> None:
    _promote(0)(forgery)
    signed = forgery.signed[-1]
    alias = Signature(keyid=OUTSIDER.public.keyid, sig=signed.signatures[0].sig)
    both = sorted([*signed.signatures, alias], key=lambda item: item.keyid)
    forgery.signed[-1] = replace(signed, signatures=tuple(both))


@_forge("MalformedError", "E_SIGNATURE_ORDER", NEXT)
def _signatures_in_another_order(forgery: Forgery) -> None:
    _promote(0, 1)(forgery)
    signed = forgery.signed[-1]
    forgery.signed[-1] = replace(signed, signatures=signed.signatures[::-1])


@_forge("RefusedError", "E_NOT_GRANTED", NEXT)
def _a_role_revoked_that_nobody_had(forgery: Forgery) -> None:
    forgery.add(forgery.state("keys", {"changes": [revoke(OUTSIDER.public)]}, *MAINTAINERS[:2]))


@_forge("RefusedError", "E_THRESHOLD", NEXT)
def _a_threshold_that_nobody_can_meet(forgery: Forgery) -> None:
    forgery.add(forgery.state("keys", {"changes": [{"action": "threshold", "threshold": 4}]}, *MAINTAINERS[:2]))


@_forge("RefusedError", "E_THRESHOLD", NEXT)
def _a_revocation_that_leaves_too_few_maintainers(forgery: Forgery) -> None:
    changes = [revoke(MAINTAINERS[number].public, role="maintainer") for number in (1, 2)]
    forgery.add(forgery.state("keys", {"changes": changes}, *MAINTAINERS[:2]))


def _blob(raw: bytes) -> str:
    """A public key line of any 32 bytes, also of such that are no key."""
    return "ssh-ed25519 " + b64encode(b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20" + raw)


def _grant_raw(raw: bytes) -> Callable[[Forgery], None]:
    def change(forgery: Forgery) -> None:
        entry = {"action": "grant", "role": "scorer", "key": _blob(raw), "nodes": ["n1"]}
        forgery.add(forgery.state("keys", {"changes": [entry]}, *MAINTAINERS[:2]))

    return change


@_forge("MalformedError", "E_KEY", NEXT)
def _a_grant_for_a_key_of_small_order(forgery: Forgery) -> None:
    # Under the neutral element a signature of zeros verifies for every message.
    _grant_raw(b"\x01" + bytes(31))(forgery)


@_forge("MalformedError", "E_KEY", NEXT)
def _a_grant_for_a_key_of_order_8(forgery: Forgery) -> None:
    _grant_raw(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"))(forgery)


@_forge("MalformedError", "E_KEY", NEXT)
def _a_grant_for_a_key_in_a_second_encoding(forgery: Forgery) -> None:
    _grant_raw((2**255 - 19 + 3).to_bytes(32, "little"))(forgery)


@_forge("MalformedError", "E_KEY", NEXT)
def _a_grant_for_a_point_beside_the_curve(forgery: Forgery) -> None:
    _grant_raw((2).to_bytes(32, "little"))(forgery)


@_forge("RefusedError", "E_ROLE", 0)
def _a_genesis_signed_by_a_key_that_is_not_its_root(forgery: Forgery) -> None:
    forgery.signed[0] = sign_statement(forgery.signed[0].statement, [OUTSIDER])


@_forge("SignatureError", "E_SIGNATURE", 0)
def _a_genesis_with_the_root_key_named_but_not_used(forgery: Forgery) -> None:
    sig = sign_statement(forgery.signed[0].statement, [OUTSIDER]).signatures[0].sig
    forged = Signature(keyid=ROOT.public.keyid, sig=sig)
    forgery.signed[0] = replace(forgery.signed[0], signatures=(forged,))


@_forge("RefusedError", "E_THRESHOLD", 0)
def _a_genesis_signed_by_too_few_root_keys(forgery: Forgery) -> None:
    body = genesis_body(roots=[ROOT, OUTSIDER])
    body["root"]["threshold"] = 2
    alone = Forgery(forgery.folder, [], [])
    forgery.signed, forgery.times = [alone.state("genesis", body, ROOT)], forgery.times[:1]


@_forge("RefusedError", "E_SUBJECT", 0)
def _a_genesis_about_another_ledger(forgery: Forgery) -> None:
    def edit(value: JsonObject) -> None:
        value["subject"][0]["digest"]["sha256"] = sha256_hex("other")

    forgery.alter(0, edit, ROOT)


@_forge("RefusedError", "E_KEY_TWICE", 0, first=False)  # the genesis names no key then
def _a_genesis_with_one_root_key_twice(forgery: Forgery) -> None:
    def edit(value: JsonObject) -> None:
        value["predicate"]["genesis"]["root"] = {"keys": [ROOT.public.openssh] * 2, "threshold": 2}

    forgery.alter(0, edit, ROOT)


@_forge("RefusedError", "E_NO_GENESIS", 0, first=False)  # nobody names a key for the checkpoint
def _a_ledger_that_begins_with_a_round(forgery: Forgery) -> None:
    forgery.drop(0)
    forgery.drop(0)


@_forge("RefusedError", "E_KIND", NEXT)
def _a_second_genesis(forgery: Forgery) -> None:
    forgery.add(forgery.state("genesis", genesis_body(maintainers=[OUTSIDER]), ROOT))


# ---- What may not be sealed again, or not here.


@_forge("RefusedError", "E_DUPLICATE", NEXT)
def _a_statement_sealed_twice(forgery: Forgery) -> None:
    forgery.add(forgery.signed[8])


@_forge("RefusedError", "E_DUPLICATE", NEXT)
def _a_statement_sealed_twice_with_other_signatures(forgery: Forgery) -> None:
    forgery.add(forgery.signed[8].cosign(CONTRIBUTOR))


@_forge("RefusedError", "E_ID_CONFLICT", NEXT)
def _the_id_of_an_earlier_round(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("round-2", wall_ns=7), SCORER_1))


@_forge("RefusedError", "E_ID_CONFLICT", NEXT)
def _an_earlier_round_said_again(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("round-2"), SCORER_1))


@_forge("RefusedError", "E_BASIS", NEXT)
def _a_basis_that_never_was(forgery: Forgery) -> None:
    forgery.add(forgery.state("round", round_body("next"), SCORER_1, basis=Basis(tree_size=4, root=bytes(32))))


@_forge("RefusedError", "E_BASIS", NEXT)
def _a_basis_of_the_right_root_at_another_size(forgery: Forgery) -> None:
    basis = replace(forgery.basis(), tree_size=4)
    forgery.add(forgery.state("round", round_body("next"), SCORER_1, basis=basis))


@_forge("RefusedError", "E_BASIS", NEXT)
def _a_basis_in_the_future(forgery: Forgery) -> None:
    basis = replace(forgery.basis(), tree_size=SIZE + 1)
    forgery.add(forgery.state("round", round_body("next"), SCORER_1, basis=basis))


@_forge("RefusedError", "E_PRODUCER", NEXT)
def _a_producer_who_has_not_signed(forgery: Forgery) -> None:
    producer = forgery.producer(SCORER_2)
    forgery.add(forgery.state("round", round_body("next"), SCORER_1, producer=producer))


@_forge("RefusedError", "E_SEQ_TAKEN", NEXT)
def _a_number_used_twice(forgery: Forgery) -> None:
    producer = replace(forgery.producer(SCORER_1), seq=1)
    forgery.add(forgery.state("round", round_body("next"), SCORER_1, producer=producer))


@_forge("RefusedError", "E_PREV_STATEMENT", NEXT)
def _another_statement_before_this_one(forgery: Forgery) -> None:
    producer = replace(forgery.producer(SCORER_1), prev=bytes(32))
    forgery.add(forgery.state("round", round_body("next"), SCORER_1, producer=producer))


@_forge("RefusedError", "E_PREV_STATEMENT", NEXT)
def _no_statement_before_the_third(forgery: Forgery) -> None:
    producer = replace(forgery.producer(SCORER_1), prev=None)
    forgery.add(forgery.state("round", round_body("next"), SCORER_1, producer=producer))


@_forge("RefusedError", "E_PREV_STATEMENT", NEXT)
def _a_statement_before_the_first(forgery: Forgery) -> None:
    producer = Producer(keyid=MAINTAINERS[2].public.keyid, seq=0, prev=bytes(32))
    body = {"changes": [grant(OUTSIDER.public, "n1")]}
    forgery.add(forgery.state("keys", body, MAINTAINERS[2], MAINTAINERS[0], producer=producer))


# ---- Rounds and changes that say what cannot be, correctly signed by whoever may say it.


def _say(edit: Callable[[JsonObject], None], *, body: JsonObject | None = None) -> Callable[[Forgery], None]:
    def change(forgery: Forgery) -> None:
        forgery.add(forgery.state("round", body or round_body("next"), SCORER_1, edit=edit))

    return change


@_forge("MalformedError", "E_SCHEMA", NEXT)
def _a_member_that_the_schema_lacks(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"].update(verdict="xl"))(forgery)


@_forge("MalformedError", "E_SCHEMA", NEXT)
def _a_member_that_is_missing(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"].pop("weights"))(forgery)


@_forge("MalformedError", "E_SCHEMA", NEXT)
def _a_number_written_as_text(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["reps"][0].update(wall_ns="1000000"))(forgery)


@_forge("MalformedError", "E_SCHEMA", NEXT)
def _a_truth_value_for_a_number(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["reps"][0].update(order=True))(forgery)


@_forge("MalformedError", "E_SCHEMA", NEXT)
def _two_subjects(forgery: Forgery) -> None:
    _say(lambda value: value["subject"].append(value["subject"][0]))(forgery)


@_forge("MalformedError", "E_SCHEMA", NEXT)
def _a_fraction(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["reps"][0].update(wall_ns=1000000.5))(forgery)


@_forge("MalformedError", "E_DOMAIN", NEXT)
def _a_fraction_without_a_remainder(forgery: Forgery) -> None:
    # JSON schema calls 1000000.0 an integer; canonical JSON does not have it.
    _say(lambda value: value["predicate"]["round"]["reps"][0].update(wall_ns=1000000.0))(forgery)


@_forge("MalformedError", "E_SCHEMA", NEXT)
def _a_change_of_roles_without_its_nodes(forgery: Forgery) -> None:
    changes = [grant(OUTSIDER.public)]
    forgery.add(forgery.state("keys", {"changes": changes}, *MAINTAINERS[:2]))


@_forge("RefusedError", "E_SUBJECT", NEXT)
def _a_subject_that_was_not_measured(forgery: Forgery) -> None:
    def edit(value: JsonObject) -> None:
        value["subject"][0]["digest"]["sha256"] = sha256_hex("better code")

    _say(edit)(forgery)


@_forge("RefusedError", "E_COLUMN_LENGTH", NEXT)
def _columns_of_unequal_length(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["reps"][0]["records"].update(wall_ns=[1, 2]))(forgery)


@_forge("RefusedError", "E_TTFT_AFTER_END", NEXT)
def _a_first_token_after_the_end(forgery: Forgery) -> None:
    _say(lambda _: None, body=stream_round_body("next", ttft_ns=512, e2e_ns=498))(forgery)


@_forge("RefusedError", "E_ZERO_TIME", NEXT)
def _a_duration_of_zero(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["reps"][0]["records"].update(wall_ns=[0]))(forgery)


@_forge("RefusedError", "E_WALL", NEXT)
def _a_sample_longer_than_its_repetition(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["reps"][0].update(wall_ns=1))(forgery)


@_forge("RefusedError", "E_CONTEXT_MISMATCH", NEXT)
def _a_context_that_was_not_measured(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["slot"].update(context=131072))(forgery)


@_forge("RefusedError", "E_RECORDS_MISSING", NEXT)
def _a_metric_without_its_records(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["reps"][0]["metrics"].append("ttft"))(forgery)


@_forge("RefusedError", "E_ARM_UNMEASURED", NEXT)
def _an_arm_that_only_warmed_up(forgery: Forgery) -> None:
    _say(lambda value: value["predicate"]["round"]["reps"][0].update(warmup=True))(forgery)


@_forge("RefusedError", "E_ATTACHMENT", NEXT)
def _a_source_that_is_not_attached(forgery: Forgery) -> None:
    source = {"attachment": "log.txt", "row": 0}
    _say(lambda value: value["predicate"]["round"]["reps"][0].update(source=source))(forgery)


__all__ = ["CASES", "Case", "Known"]
