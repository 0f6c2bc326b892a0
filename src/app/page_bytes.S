// The packed files of the web page; page_table.cc says where each one lies.
        .section .rodata
        .global vivace_page_bytes
        .balign 16
vivace_page_bytes:
        .incbin VIVACE_PAGE_BIN
        .section .note.GNU-stack, "", %progbits
