// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a sanitizer brings its own operator new, which a program had better not replace. g++ and clang say it unlike.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define POLYHOP_SANITIZER_ALLOCATES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define POLYHOP_SANITIZER_ALLOCATES 1
#endif
#endif
#ifndef POLYHOP_SANITIZER_ALLOCATES
#define POLYHOP_SANITIZER_ALLOCATES 0
#endif
