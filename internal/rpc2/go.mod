module github.com/cenkalti/rpc2

go 1.26
