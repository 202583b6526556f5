import { assert, describe, it } from "@effect/vitest"
import { isReadOnlyLine } from "../../../src/domain/permission/ReadOnlyCommand.ts"
import { parseLine } from "../../../src/domain/permission/ShellLine.ts"

const isReadOnly = (command: string, base = "/w") => isReadOnlyLine(parseLine(command), base, "/w")

describe("ReadOnlyCommand", () => {
  for (const command of [
    "ls",
    "ls -la src",
    "cat a.txt | head -5 | sort -u | uniq -c",
    "git status",
    "git --no-pager log --oneline -5 HEAD~2..main",
    "git diff --stat -- src",
    "git branch -a",
    "grep -rn '/api/v1' src",
    "rg -n 'a|b' --glob '*.ts' src",
    "find . -name '*.ts' -newer x",
    "sed -n '10,20p' a.ts",
    "cd src && ls",
    "wc -l < a.txt",
    "ls 2>/dev/null",
    "ls 2>&1 | tail -3",
    "LANG=C sort a",
    "timeout 5 rg foo",
    "bash -c 'ls | wc -l'",
    "cat /w/a /dev/null",
    "[ -f a ] && echo yes",
    "date +%s",
    "kubectl get pods"
  ]) {
    it(`reads only: ${command}`, () => assert.isTrue(isReadOnly(command)))
  }

  for (const command of [
    "",
    "lsof",
    "./ls",
    "/bin/ls",
    "ls > a",
    "ls >> a",
    "ls &> a",
    "echo x | tee a",
    "git",
    "git push",
    "git branch new",
    "git branch -D main",
    "git -c core.pager=x log",
    "git -C ../other status",
    "git --exec-path=/tmp status",
    "git log --output=a",
    "git log --outp=a",
    "git diff --ext-diff",
    "cd src && git status",
    "cd && cat .ssh/id_ed25519",
    "cd - && ls",
    "cd .. && ls",
    "find . -delete",
    "find . -exec rm {} +",
    "find . -fprint a",
    "find *",
    "sort -o a b",
    "sort -uo a b",
    "sort --outp=a b",
    "sort --compress-program=x b",
    "uniq a b",
    "date -s now",
    "date 01010000",
    "hostname other",
    "rg --pre x y",
    "rg --files /etc",
    "rg a /etc/passwd",
    "grep /etc/passwd /etc/passwd",
    "grep -e a /etc/passwd",
    "grep --file=/etc/passwd a",
    "grep -f/etc/passwd a",
    "cat /etc/passwd",
    "cat ../x",
    "cat ~/.ssh/id_ed25519",
    "wc < /etc/passwd",
    "cat $FILE",
    "cat $(echo a)",
    "ls; x=$(rm y)",
    "(ls)",
    "ls &",
    "test -v 'a[$(rm x)]'",
    "[ -v 'a[$(rm x)]' ]",
    "test *",
    "PATH=. ls",
    "GIT_EXTERNAL_DIFF=x git diff",
    "PATH=.; ls",
    "sed -i s/a/b/ c",
    "sed -n '1w x' a",
    "sed -n '1,5p' -i a",
    "env",
    "sudo ls",
    "xargs ls",
    "sh",
    "kubectl get secrets",
    "kubectl delete pod x"
  ]) {
    it(`may do more: ${command}`, () => assert.isFalse(isReadOnly(command)))
  }

  it("git and other folders do not go together", () => {
    assert.isTrue(isReadOnly("ls", "/w/sub"))
    assert.isFalse(isReadOnly("git status", "/w/sub"))
    assert.isFalse(isReadOnly("ls", "/elsewhere"))
  })
})
