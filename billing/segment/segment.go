// Package segment splits text messages into the segments that they travel in and are
// charged by: 3GPP TS 23.038 (alphabets) and TS 23.040, 9.2.3.24.1 (concatenation). A
// message in the GSM alphabet has 160 septets, or 153 a segment beside the header that
// joins several; one with any other character is in UCS-2 and has 70 code units, or 67.
package segment

import "strings"

// Encoding is what all segments of a message are written in.
type Encoding string

// The encodings.
const (
	GSM7 Encoding = "gsm7" // the default alphabet with its extension table
	UCS2 Encoding = "ucs2" // UTF-16, of which UCS-2 is the part without surrogate pairs
)

// Room for one message: septets of GSM7 and code units of UCS2, in a message that is one
// segment and in each segment of a longer one, which has a user data header of 6 octets.
const (
	gsmAlone, gsmJoined = 160, 153
	ucsAlone, ucsJoined = 70, 67
)

// TS 23.038, 6.2.1: the default alphabet, without the escape to its extension, and 6.2.1.1:
// the extension, whose characters take two septets.
const (
	alphabet = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	extended = "\f^{}\\[~]|€"
)

// septets is how much room a character takes in GSM7; 0: it is not in the alphabet.
func septets(r rune) int {
	switch {
	case strings.ContainsRune(alphabet, r):
		return 1
	case strings.ContainsRune(extended, r):
		return 2
	}
	return 0
}

// units is how many code units a character takes in UTF-16.
func units(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// Of is the encoding that a text needs.
func Of(text string) Encoding {
	for _, r := range text {
		if septets(r) == 0 {
			return UCS2
		}
	}
	return GSM7
}

// Split cuts a text into its segments, which joined are the text: the caller's to keep, and
// at least one. No character is cut in two, neither an escape nor a surrogate pair.
func Split(text string) []string {
	size, alone, joined := septets, gsmAlone, gsmJoined
	if Of(text) == UCS2 {
		size, alone, joined = units, ucsAlone, ucsJoined
	}
	total := 0
	for _, r := range text {
		total += size(r)
	}
	if total <= alone {
		return []string{text}
	}
	var parts []string
	begin, used := 0, 0
	for i, r := range text {
		n := size(r)
		if used+n > joined {
			parts = append(parts, text[begin:i])
			begin, used = i, 0
		}
		used += n
	}
	return append(parts, text[begin:])
}

// Count is the number of segments that a text is charged for.
func Count(text string) int { return len(Split(text)) }
