package telephony

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"parley/store/campaign"
)

func itoa(n int) string { return strconv.Itoa(n) }

// numberList is a file of people to call.
type numberList struct {
	Header []string // the names of its columns
	To, At int      // the columns of numbers and of times; At is -1 where there is none
	Rows   []listRow
	Lines  []int // of the file, counted from 1
}

const tooLargeList = "The file is larger than 256 kB: is it the list?"

// listRow is one of them.
type listRow struct {
	To, At string
	Cells  []string // of all columns
}

// readNumbers reads CSV as people's programs write it: with commas, semicolons or tabs,
// with or without a line that names the columns. to and at are columns that were chosen,
// empty for the likely ones. The complaint is for the sender; empty: there is none.
func readNumbers(text, to, at string) (l *numberList, complaint string) {
	switch {
	case text == "":
		return nil, "Choose a file with the numbers."
	case len(text) > maxList:
		return nil, tooLargeList
	case !utf8.ValidString(text), strings.ContainsRune(text, 0):
		return nil, "The file is no text: save the sheet as CSV."
	}
	text = strings.TrimPrefix(text, "\ufeff")
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = separator(text), -1, true, true
	var records [][]string
	var lines []int
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, "The file is no CSV: " + err.Error() + "."
		}
		line, _ := r.FieldPos(0)
		records, lines = append(records, record), append(lines, line)
	}
	if len(records) == 0 {
		return nil, "The file has no lines."
	}
	l = &numberList{To: -1, At: -1}
	first := records[0]
	if named := !hasNumber(first); named {
		l.Header, records, lines = first, records[1:], lines[1:]
	} else {
		for i := range first {
			l.Header = append(l.Header, fmt.Sprintf("column %d", i+1))
		}
	}
	l.choose(to, at, records)
	for i, record := range records {
		row := listRow{Cells: record}
		if l.To < len(record) {
			row.To = international(record[l.To])
		}
		if l.At >= 0 && l.At < len(record) {
			row.At = strings.TrimSpace(record[l.At])
		}
		if strings.Join(record, "") == "" {
			continue
		}
		l.Rows, l.Lines = append(l.Rows, row), append(l.Lines, lines[i])
	}
	switch {
	case len(l.Rows) == 0:
		return nil, "The file has nobody to call."
	case len(l.Rows) > campaign.MaxCampaignRows:
		return nil, fmt.Sprintf("The file has %d lines; a batch has %d at most.", len(l.Rows), campaign.MaxCampaignRows)
	}
	return l, ""
}

// asText is a file as text. Spreadsheets save CSV in UTF-8, in UTF-16 with a byte order
// mark, or in the code page of their country, of which numbers, and the letters of western
// Europe, are those of Latin-1. What is none of these stays as it is.
func asText(file []byte) string {
	for _, mark := range []struct {
		bytes string
		order binary.ByteOrder
	}{{"\xff\xfe", binary.LittleEndian}, {"\xfe\xff", binary.BigEndian}} {
		if rest, ok := strings.CutPrefix(string(file), mark.bytes); ok {
			units := make([]uint16, len(rest)/2)
			for i := range units {
				units[i] = mark.order.Uint16([]byte(rest[2*i:]))
			}
			return string(utf16.Decode(units))
		}
	}
	if utf8.Valid(file) || bytes.IndexByte(file, 0) >= 0 {
		return string(file)
	}
	letters := make([]rune, len(file))
	for i, b := range file {
		letters[i] = rune(b)
	}
	return string(letters)
}

// separator is what most of the first line is divided by.
func separator(text string) rune {
	first, _, _ := strings.Cut(text, "\n")
	best, most := ',', strings.Count(first, ",")
	for _, c := range []rune{';', '\t'} {
		if n := strings.Count(first, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// choose finds the columns: those that were chosen, those whose names say so, or the
// first with a number in it.
func (l *numberList) choose(to, at string, records [][]string) {
	if n, err := strconv.Atoi(to); err == nil && n >= 0 && n < len(l.Header) {
		l.To = n
	}
	if n, err := strconv.Atoi(at); err == nil && n >= 0 && n < len(l.Header) {
		l.At = n
	}
	for i, name := range l.Header {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "to", "number", "phone", "telephone", "mobile", "phone number", "phone_number", "teléfono", "telefono", "número":
			if l.To < 0 {
				l.To = i
			}
		case "scheduled_at", "time", "when", "at":
			if l.At < 0 && at == "" {
				l.At = i
			}
		}
	}
	for i := 0; l.To < 0 && len(records) > 0 && i < len(records[0]); i++ {
		if hasNumber(records[0][i : i+1]) {
			l.To = i
		}
	}
	l.To = max(l.To, 0)
}

// hasNumber says whether a cell can only be a telephone number.
func hasNumber(cells []string) bool {
	for _, c := range cells {
		n := international(c)
		if len(n) >= 8 && len(n) <= 16 && strings.Trim(n[1:], "0123456789") == "" {
			return true
		}
	}
	return false
}

// international brings a number as spreadsheets leave it, '+34 912…, 34912… or 0034912…,
// into international format; anything else stays for the check to refuse.
func international(cell string) string {
	n := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", "\u00a0", "", ".", "").Replace(strings.TrimLeft(strings.TrimSpace(cell), "'"))
	digits := strings.TrimPrefix(n, "+")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return strings.TrimSpace(cell)
	}
	return "+" + strings.TrimPrefix(digits, "00")
}
