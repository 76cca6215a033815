// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Nothing: the precompiled header of the tests needs a source to belong to.
