package content

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// maxChunk is the greatest size of an uncompressed chunk of LZMA2.
const maxChunk = 1 << 16

// xz puts data into the xz container, uncompressed. Readers of dashboards require that format, the standard library
// has no writer for it, and a dashboard is small. Source: "The .xz File Format", version 1.2.1; for the chunks of
// LZMA2, xz_dec_lzma2.c of xz-embedded.
func xz(data []byte) []byte {
	flags := []byte{0x00, 0x01} // checked by CRC-32
	var out bytes.Buffer
	out.WriteString("\xfd7zXZ\x00")
	out.Write(flags)
	sum(&out, flags)

	start := out.Len()
	block := []byte{
		0x02,       // the header's size is (2+1) × 4
		0x00,       // one filter, no sizes
		0x21, 0x01, // LZMA2, with one byte of properties:
		0x08,             // a dictionary of 64 KiB
		0x00, 0x00, 0x00, // up to the size
	}
	out.Write(block)
	sum(&out, block)
	control := byte(0x01) // begin with an empty dictionary; after that, 0x02: continue with it
	for rest := data; len(rest) > 0; control = 0x02 {
		chunk := rest[:min(len(rest), maxChunk)]
		rest = rest[len(chunk):]
		out.WriteByte(control)
		_ = binary.Write(&out, binary.BigEndian, uint16(len(chunk)-1)) // a buffer takes all
		out.Write(chunk)
	}
	out.WriteByte(0x00)
	unpadded := out.Len() - start + crc32.Size
	align(&out, start)
	sum(&out, data)

	index := bytes.NewBuffer([]byte{0x00, 0x01}) // an index, of one block
	index.Write(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(unpadded)), uint64(len(data))))
	align(index, 0)
	out.Write(index.Bytes())
	sum(&out, index.Bytes())

	footer := binary.LittleEndian.AppendUint32(nil, uint32(index.Len()+crc32.Size)/4-1)
	footer = append(footer, flags...)
	sum(&out, footer)
	out.Write(footer)
	out.WriteString("YZ")
	return out.Bytes()
}

func sum(out *bytes.Buffer, of []byte) {
	_ = binary.Write(out, binary.LittleEndian, crc32.ChecksumIEEE(of)) // a buffer takes all
}

func align(out *bytes.Buffer, start int) {
	for (out.Len()-start)%4 != 0 {
		out.WriteByte(0x00)
	}
}
