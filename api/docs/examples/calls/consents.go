//go:build ignore

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

// ask returns an answer, which the caller closes.
func ask(path string) io.ReadCloser {
	request, err := http.NewRequest("GET", os.Getenv("PARLEY_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}
	return answer.Body
}

func main() {
	page := ask("/v1/consents?limit=10")
	defer page.Close()
	var list struct{ Data []struct{ Seal string } }
	if err := json.NewDecoder(page).Decode(&list); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows on this page\n", len(list.Data))

	file := ask("/v1/consents.csv")
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	seal := []byte{}
	for _, cells := range rows[1:] {
		row := map[string]string{}
		for i, name := range rows[0] {
			row[name] = cells[i]
		}
		number, err := hex.DecodeString(row["to_hash"])
		if err != nil {
			log.Fatal(err)
		}
		hash := sha256.New()
		for _, part := range [][]byte{seal, []byte(row["account_id"]), []byte(row["call_id"]), []byte(row["agent_id"]),
			[]byte(row["key_id"]), []byte(row["ip"]), []byte(row["at"]), number} {
			hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			hash.Write(part)
		}
		if seal = hash.Sum(nil); row["seal"] != hex.EncodeToString(seal) {
			log.Fatalf("row %s does not follow from those before it", row["no"])
		}
	}
	fmt.Printf("%d rows hold together; the last seal is %x\n", len(rows)-1, seal)
}
