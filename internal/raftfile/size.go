package raftfile

import "os"

// Size returns a file's size in bytes; 0 if it can't be found out.
func Size(path string) int64 {
	stat, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return stat.Size()
}
