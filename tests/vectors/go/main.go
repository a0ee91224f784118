// Command main checks a ledger's files with golang.org/x/mod, which shares no code with the ledger.
//
//	main VKEY-FILE checkpoint CHECKPOINT
//	main VKEY-FILE inclusion  PROOF-BUNDLE
//	main VKEY-FILE growth     OLD-CHECKPOINT CHECKPOINT HASHES-FILE
//
// Exit status 0: it holds; 1: it does not; 2: wrong usage.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
	return value
}

func read(path string) string { return string(must(os.ReadFile(path))) }

func number(text string) int64 { return must(strconv.ParseInt(text, 10, 64)) }

func hashes(lines []string) (list []tlog.Hash) {
	for _, line := range lines {
		list = append(list, must(tlog.ParseHash(line)))
	}
	return list
}

// open verifies a signed checkpoint and gives tree size and root hash.
func open(vkey, signed string) (int64, tlog.Hash) {
	known := note.VerifierList(must(note.NewVerifier(vkey)))
	lines := strings.Split(must(note.Open([]byte(signed), known)).Text, "\n")
	if len(lines) != 4 || lines[0] != strings.Split(vkey, "+")[0] {
		must(0, fmt.Errorf("not a checkpoint of this ledger: %q", lines))
	}
	return number(lines[1]), must(tlog.ParseHash(lines[2]))
}

// inclusion verifies a proof bundle. The entry in the tree is the SHA-256 of the receipt file.
func inclusion(vkey, bundle string) {
	head, signed, _ := strings.Cut(bundle, "\n\n")
	lines := strings.Split(head, "\n")
	receipt := must(base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra ")))
	index := number(strings.TrimPrefix(lines[2], "index "))
	size, root := open(vkey, signed)
	entry := sha256.Sum256(receipt)
	must(0, tlog.CheckRecord(hashes(lines[3:]), size, root, index, tlog.RecordHash(entry[:])))
}

func main() {
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[1] == "checkpoint":
		open(strings.TrimSpace(read(args[0])), read(args[2]))
	case len(args) == 3 && args[1] == "inclusion":
		inclusion(strings.TrimSpace(read(args[0])), read(args[2]))
	case len(args) == 5 && args[1] == "growth":
		oldSize, oldRoot := open(strings.TrimSpace(read(args[0])), read(args[2]))
		size, root := open(strings.TrimSpace(read(args[0])), read(args[3]))
		must(0, tlog.CheckTree(hashes(strings.Fields(read(args[4]))), size, root, oldSize, oldRoot))
	default:
		os.Exit(2)
	}
}
